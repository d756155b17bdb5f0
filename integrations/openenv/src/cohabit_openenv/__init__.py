"""Seats of Cohabit rooms as OpenEnv environments."""

from cohabit_openenv.environment import SeatEnvironment
from cohabit_openenv.models import SeatAction, SeatObservation, SeatState
from cohabit_openenv.server import make_app

__all__ = ["SeatAction", "SeatEnvironment", "SeatObservation", "SeatState", "make_app"]
