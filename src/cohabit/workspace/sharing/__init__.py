"""Getting what was committed to the others, and theirs here: fetch, merge, push, conflicts, claims."""
