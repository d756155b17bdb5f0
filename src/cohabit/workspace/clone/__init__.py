"""One clone: running git safely, files that cannot leave the work tree, one call at a time."""
