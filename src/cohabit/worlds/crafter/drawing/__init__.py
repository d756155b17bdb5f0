"""Pictures of the game: ``stock`` draws those of the original, ``scene`` and ``map`` larger ones for people."""
