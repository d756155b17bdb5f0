"""Brains for Kingdoms: kings, gods, and those who tell the story. They play from what they are shown, nothing else."""
