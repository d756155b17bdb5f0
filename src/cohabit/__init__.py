"""Cohabit."""
