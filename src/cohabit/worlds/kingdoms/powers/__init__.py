"""Powers: what gods, and within their own borders kings, can do to the world with a click."""
