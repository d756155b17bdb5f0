"""Wires and names of other projects, for their clients and games. Rooms know nothing of them."""
