"""Pictures of the world. ``picture`` draws one, from the tiles of ``map`` and with the labels of ``legend``."""
