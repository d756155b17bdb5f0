"""The classic games of PettingZoo, and multi-agent environments of one's own, as worlds. See ``library.py``."""
