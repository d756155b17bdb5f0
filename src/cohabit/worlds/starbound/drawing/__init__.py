"""Pictures of the planets."""
