"""The frame of every attack: trials, what is attacked, what labels cover, what claims promise."""
