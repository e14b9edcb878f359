"""Tables in and out: files, frames, and the bundled data sets."""
