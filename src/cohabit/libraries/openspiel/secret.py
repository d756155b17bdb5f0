"""``SecretWorld``: a game of OpenSpiel in which players do not know everything. It can be imagined as another one."""

from collections.abc import Hashable
from typing import Any

from cohabit.libraries.openspiel.redraw import redraw
from cohabit.libraries.openspiel.world import SpielWorld
from cohabit.world import Eye, Stream


class SecretWorld(SpielWorld):
    """Hidden are cards and the like, or the moves that others have chosen and that are made at the same time."""

    def resample(self, eye: Eye, stream: Stream) -> None:
        if eye.sees != "all":
            player = self.players.get(eye.seat or "")
            if self.hides:
                self._redraw(player, stream)
            for seat in self.chosen:
                if seat != eye.seat:
                    self.chosen[seat] = stream.choice(list(self.legal_moves(self.players[seat])))
        self.luck = Stream(stream.bits64(), self.luck.purpose)

    def _redraw(self, player: int | None, stream: Stream) -> None:
        def shows(state: Any) -> Hashable:
            known = self._known_publicly(state) if player is None else self._known(state, player)
            return state.current_player(), known, tuple(state.returns()) if state.is_terminal() else ()

        game, chosen = self.load_game(self.seed), self.chosen
        steps = redraw(game, self.steps, player, shows, stream, self.about.resamples)
        self.begin(self.seats, self.seed, self.luck)
        self.play_again(steps)
        self.chosen = chosen

    def _known(self, state: Any, player: int) -> Hashable:
        """The knowledge that the library gives a player. Not our text: it must not say more, which is checked."""
        chooses = state.is_simultaneous_node() or state.current_player() == player
        moves = tuple(state.legal_actions(player)) if chooses else ()
        return self.text_of(state, player), moves, state.returns()[player] if self.rewards_on_the_way else 0

    def _known_publicly(self, state: Any) -> Hashable:
        if not self.about.open_moves:
            return ()
        return tuple((step.player, step.action) for step in state.full_history() if step.player >= 0)
