"""Films: what was seen of a room before, made in a process of its own."""
