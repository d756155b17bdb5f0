"""Kingdoms: a living tile world for gods, kings and whoever watches them."""
