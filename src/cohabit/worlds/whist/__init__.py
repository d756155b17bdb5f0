"""Whist for four: the rules, fair deals, and the world that a room plays."""
