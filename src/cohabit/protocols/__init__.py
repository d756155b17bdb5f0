"""Wires and names of other projects, for their clients and games."""
