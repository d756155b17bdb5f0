"""Games in words, of TextArena. See ``library.py``."""
