"""A workspace as a remote world: a git repository that the members of a room share as a message board."""
