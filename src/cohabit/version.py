"""The version of Cohabit."""

__version__ = "0.1.0"
