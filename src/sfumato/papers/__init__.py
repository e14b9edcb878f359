"""The tables and figures of the documents that sfumato is built on, measured again by one command."""
