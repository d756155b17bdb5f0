"""The files of a board, as text: what they look like, how they are read and written. Nothing here touches a disk."""
