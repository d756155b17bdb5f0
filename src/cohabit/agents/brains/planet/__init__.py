"""A scripted player of the planets."""
