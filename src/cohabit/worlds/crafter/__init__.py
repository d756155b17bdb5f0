"""Crafter: an open-world survival game with 22 achievements, for one player as published, or for up to 64."""
