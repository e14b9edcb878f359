"""Learning whether somebody is in the table at all."""
