"""Keys, cards, sessions, frames and sockets: what carries a talk between machines."""
