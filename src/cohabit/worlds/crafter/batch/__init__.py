"""Many games of Crafter at once: the rules of the scalar game on arrays.

A game is the same as a scalar ``Game`` of one player with ``KeyedDraws`` of the same seed, step by step. The code
follows the Array API standard: NumPy, or another library such as CuPy or PyTorch through ``array-api-compat``.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from cohabit.errors import BadArgs
from cohabit.worlds.crafter.batch.engine import CrafterBatch, Observation, Step

if TYPE_CHECKING:
    from cohabit.worlds.crafter.batch.vector_env import CrafterVectorEnv

__all__ = ["CrafterBatch", "Observation", "Step", "vector_env"]


def vector_env(num_envs: int, **options: Any) -> "CrafterVectorEnv":
    """A ``gymnasium.vector.VectorEnv`` of this many games; the options are those of ``CrafterVectorEnv``."""
    if find_spec("gymnasium") is None:
        raise BadArgs("a vector environment needs Gymnasium: pip install 'cohabit[envs]'")
    from cohabit.worlds.crafter.batch.vector_env import CrafterVectorEnv

    return CrafterVectorEnv(num_envs, **options)
