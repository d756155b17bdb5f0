"""Whose agent this is, and which workspaces that person has."""
