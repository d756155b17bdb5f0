"""Lines that contain a text: with git grep, and with an index that follows the files."""
