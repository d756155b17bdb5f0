"""A player that never answers must not stop an experiment: after a while it has handed in nothing."""

from threading import Thread
from typing import Any

from cohabit.lab.players import Player


class Patience:
    """Lets a player think on a thread of its own. One that is late is left alone until it is done, if ever."""

    def __init__(self, player: Player, seconds: float) -> None:
        self._player = player
        self._seconds = seconds
        self._thinking: Thread | None = None

    def act(self, agent_input: dict[str, Any]) -> Any:
        if self._thinking is not None and self._thinking.is_alive():
            raise TimeoutError("it still thinks about an earlier turn")
        came: list[Any] = []
        wrong: list[BaseException] = []

        def think() -> None:
            try:
                came.append(self._player.act(agent_input))
            except BaseException as failure:  # whatever it is, it is the player's, and this thread's last
                wrong.append(failure)

        self._thinking = Thread(target=think, name="a player of an experiment", daemon=True)
        self._thinking.start()
        self._thinking.join(self._seconds)
        if came:
            return came[0]
        if wrong and isinstance(wrong[0], Exception):
            raise wrong[0]
        raise TimeoutError(f"no answer in {self._seconds:g} s")
