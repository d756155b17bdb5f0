"""Two versions of a board's files become one, by what they say. Nothing here touches a disk."""
