"""One clone: git as the only program, files that cannot lead out of it, one call at a time."""
