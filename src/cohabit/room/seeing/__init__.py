"""Seeing: what a member may see of the world, the room and the record, and how it is shown."""
