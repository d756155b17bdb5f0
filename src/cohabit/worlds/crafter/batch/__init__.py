"""Many games of Crafter at once: the rules of the scalar game on arrays."""

from cohabit.worlds.crafter.batch.engine import CrafterBatch, Observation, Step

__all__ = ["CrafterBatch", "Observation", "Step"]
