"""Games of the lab can be watched again: from their results, and from links in the report."""

import re
from pathlib import Path

import pytest

from cohabit.errors import CohabitError
from cohabit.lab import report
from cohabit.lab.match import match
from cohabit.lab.report import REPORT_FILE, write_report
from cohabit.model.film import Film, patched


def test_a_replay_has_what_was_played_and_why() -> None:
    results = match("nim", "random", "nim-master", games=2, config={"stones": 9}, progress=False)
    for number, game in enumerate(results.games):
        film = results.replay(number).film
        assert [event.text for event in film.events if event.kind == "info"][-1].endswith("and wins")
        assert list(film.seats.values()) == [f"{name} (p{i})" for i, name in enumerate(game.spec.named, 1)]
        made = [line for line in results.decisions() if line.game == game.spec.id]
        assert [(d.member, d.reason) for d in film.decisions] == [
            (f"{line.player} (p{line.seat + 1})", line.decision.action.reasoning or "")
            for line in made
            if line.decision.action is not None
        ]
        assert last_view(film)["over"]
    with pytest.raises(CohabitError, match="no game 'other'"):
        results.replay("other")
    for number in (len(results), -len(results) - 1):
        with pytest.raises(CohabitError, match=f"there is no game {number} in these results; they have {len(results)}"):
            results.replay(number)


def last_view(film: Film) -> dict[str, object]:
    view: dict[str, object] = {}
    for frame in film.frames:
        view = patched({} if frame.whole else view, frame.view or {})
    return view


def test_a_long_game_is_a_replay_of_few_frames_that_ends_where_the_game_did() -> None:
    results = match("nim", "random", "random", games=1, config={"stones": 60}, progress=False)
    film = results.replay(0, frames=5).film
    assert 3 < len(film.frames) <= 6
    assert last_view(film)["over"]
    assert film.last == results.games[0].entries - 1


def test_the_report_links_games_to_replays_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MAX_REPLAYS", 2)
    results = match("tictactoe", "random", "random", games=4, out=tmp_path, progress=False)
    write_report(results, tmp_path)
    linked = re.findall(r'<a href="(replays/[^"]+)"><b>watch</b>', (tmp_path / REPORT_FILE).read_text())
    assert linked == [f"replays/{game.spec.id}.html" for game in results.games[:2]]
    assert all("Tic-tac-toe" in (tmp_path / path).read_text() for path in linked)


def test_a_game_whose_record_is_gone_has_no_link_and_the_report_is_written(tmp_path: Path) -> None:
    results = match("nim", "random", "random", games=2, out=tmp_path, progress=False)
    (tmp_path / "records" / f"{results.games[0].spec.id}.jsonl").unlink()
    write_report(results, tmp_path)
    assert (tmp_path / REPORT_FILE).read_text().count("<b>watch</b></a>") == 1
    assert "cannot be shown" in results._repr_html_()
