"""Keys, session files, frames and connections that carry a conversation between machines."""
