"""Pictures of the world, from above."""
