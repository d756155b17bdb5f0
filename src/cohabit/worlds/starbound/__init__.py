"""Starbound: the bridge to the game, and a side-view planet world of the same shape on our own engine."""
