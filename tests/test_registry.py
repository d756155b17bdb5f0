"""Where worlds come from: by name, from a file, from an installed package; and their config."""

import inspect
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from importlib import invalidate_caches
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.registry import BUILT_IN, find_world, known_worlds, lasting_source, make_world
from cohabit.room.base import WorldInterrupted
from cohabit.world import World

HEAD = "from cohabit.world import Observation, World, WorldSpec\n"
BODY = """
class {name}(World):
    spec = WorldSpec(name="{lower}")

    def __init__(self, size: int = 3, title: str = "small") -> None:
        self.size, self.title = size, title

    def reset(self, seed, seats):
        pass

    def to_move(self):
        return []

    def observe(self, eye):
        return Observation(text="nothing")
"""


def write(path: Path, *names: str, more: str = "") -> str:
    path.write_text(HEAD + dedent(more) + "".join(BODY.format(name=name, lower=name.lower()) for name in names))
    return str(path)


@pytest.fixture(autouse=True)
def forget_what_was_imported() -> Iterator[None]:
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("cohabit_world_", "some_package")):
            del sys.modules[name]


# -- by name ------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_world_is_found_by_its_name_and_made_without_config(name: str) -> None:
    assert find_world(name).spec.name == name
    assert isinstance(make_world(name, {}), World)
    assert known_worlds()[name] == BUILT_IN[name]


@pytest.mark.parametrize(("wrong", "meant"), [("nym", "nim"), ("tictac", "tictactoe"), ("lantern", "lanterns")])
def test_a_misspelt_name_is_answered_with_the_nearest_one(wrong: str, meant: str) -> None:
    with pytest.raises(UnknownAsset) as refused:
        find_world(wrong)
    assert refused.value.did_you_mean[0] == meant
    assert all(name in refused.value.message for name in BUILT_IN)


def test_an_unknown_name_is_answered_with_how_to_give_a_file() -> None:
    for source in ("zzzzzzzzzz", "", "nim:Nim", "cohabit.worlds.nim:Nim"):
        with pytest.raises(UnknownAsset, match=r"\.py file"):
            find_world(source)


# -- from a file --------------------------------------------------------------------------------
def test_the_one_world_of_a_file_is_found(tmp_path: Path) -> None:
    assert find_world(write(tmp_path / "game.py", "Alone")).__name__ == "Alone"


def test_a_world_that_a_file_only_imports_is_not_its_own(tmp_path: Path) -> None:
    source = write(tmp_path / "game.py", "Alone", more="from cohabit.worlds.nim import Nim\n")
    assert find_world(source).__name__ == "Alone"
    with pytest.raises(UnknownAsset, match="Nim"):
        find_world(f"{source}:Nim")


def test_one_of_several_worlds_of_a_file_is_found_by_its_class(tmp_path: Path) -> None:
    source = write(tmp_path / "game.py", "First", "Second")
    assert find_world(f"{source}:Second").__name__ == "Second"
    with pytest.raises(BadArgs, match=r"2 worlds \(First, Second\).*:ClassName"):
        find_world(source)
    with pytest.raises(UnknownAsset) as refused:
        find_world(f"{source}:Secund")
    assert refused.value.did_you_mean[0] == "Second"


def test_a_file_without_a_world_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(BadArgs, match=r"game\.py has no class derived from World"):
        find_world(write(tmp_path / "game.py"))


def test_a_file_that_is_not_there_is_refused_by_its_name(tmp_path: Path) -> None:
    for source in (str(tmp_path / "none.py"), f"{tmp_path / 'none.py'}:World", str(tmp_path / "none.py") + ":"):
        with pytest.raises(UnknownAsset, match=r"none\.py"):
            find_world(source)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError.*no_such_module_at_all"),
        ("def broken(:", "SyntaxError"),
        ("raise ZeroDivisionError('of mine')", r"ZeroDivisionError: of mine \(game\.py, line 1\)$"),
        ("\nfrom cohabit import WorldSpec\nWorldSpec('a')", r"TypeError: Extra positional .* \(game\.py, line 3\)$"),
        ("raise SystemExit(3)", "SystemExit"),
    ],
)
def test_a_file_that_cannot_be_imported_is_refused_by_its_name_and_can_be_fixed(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "game.py"
    path.write_text(text)
    loaded = set(sys.modules)
    for _ in range(2):
        with pytest.raises(BadArgs, match=rf"game\.py cannot be imported: {says}"):
            find_world(str(path))
    assert not [name for name in sys.modules.keys() - loaded if name.startswith("cohabit_world_game")]
    assert find_world(write(path, "Mended")).__name__ == "Mended"


def test_a_file_is_imported_once_and_again_after_an_edit(tmp_path: Path) -> None:
    source = write(tmp_path / "game.py", "Alone")
    first = find_world(source)
    assert find_world(source) is first
    write(tmp_path / "game.py", "Alone", more="CHANGED = True\n")
    assert find_world(source) is not first


def held_while_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ModuleType]:
    """A file with a world, which calls ``during`` of the returned module before it defines it."""
    held = ModuleType("held_in_a_test")
    monkeypatch.setitem(sys.modules, held.__name__, held)
    return write(tmp_path / "held.py", "Alone", more=f"from {held.__name__} import during\nduring()\n"), held


def test_a_file_that_several_threads_load_at_once_is_complete_for_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, held = held_while_loaded(tmp_path, monkeypatch)
    begun, go = threading.Event(), threading.Event()

    def during() -> None:
        begun.set()
        assert go.wait(60)

    held.during = during  # type: ignore[attr-defined]
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(find_world, source)
        assert begun.wait(60)
        second = threads.submit(find_world, source)
        wait([second], timeout=0.3)  # one that does not wait for the first has failed by now
        go.set()
        assert first.result(60) is second.result(60)


def test_a_file_whose_loading_was_interrupted_is_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, held = held_while_loaded(tmp_path, monkeypatch)

    def during() -> None:
        held.during = lambda: None  # type: ignore[attr-defined]
        raise WorldInterrupted

    held.during = during  # type: ignore[attr-defined]
    with pytest.raises(WorldInterrupted):
        find_world(source)
    assert issubclass(find_world(source), World)


def test_a_file_edited_within_the_same_second_is_not_loaded_from_cached_bytecode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "game.py"
    versions = []
    for number in (1, 2):
        write(path, "Alone", more=f"VERSION = {number}\n")
        os.utime(path, (1_000_000_000, 1_000_000_000))
        versions.append(sys.modules[find_world(str(path)).__module__].VERSION)
    assert versions == [1, 2]
    assert [child.name for child in tmp_path.iterdir()] == ["game.py"]


def test_the_source_of_a_world_from_a_file_can_be_shown(tmp_path: Path) -> None:
    world = find_world(write(tmp_path / "game.py", "Alone"))
    assert inspect.getsource(world).startswith("class Alone(World):")
    assert inspect.getsourcefile(world) == str((tmp_path / "game.py").resolve())


def test_a_world_without_a_spec_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "game.py"
    path.write_text(HEAD + "class Bare(World):\n    pass\n")
    with pytest.raises(BadArgs, match="Bare has no spec"):
        find_world(str(path))


# -- from a package -----------------------------------------------------------------------------
@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with worlds of its own, as an installer would leave it."""
    site = tmp_path / "site"
    info = site / "some_package-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[cohabit.worlds]\nmarsh = some_package_worlds:Marsh\nnim = some_package_worlds:Marsh\n"
        "word = some_package_worlds:WORD\n"
    )
    write(site / "some_package_worlds.py", "Marsh", more="WORD = 'not a world'\n")
    monkeypatch.syspath_prepend(str(site))
    invalidate_caches()
    return site


def test_a_world_of_an_installed_package_is_found_by_its_name(installed: Path) -> None:
    assert known_worlds()["marsh"] == "some_package_worlds:Marsh"
    assert "some_package_worlds" not in sys.modules  # imported only when somebody opens one
    assert find_world("marsh").__name__ == "Marsh"
    assert make_world("marsh", {"size": 5}).size == 5
    with pytest.raises(UnknownAsset) as refused:
        find_world("marshh")
    assert refused.value.did_you_mean[0] == "marsh"


def test_an_installed_package_cannot_take_the_name_of_a_built_in_world(installed: Path) -> None:
    assert known_worlds()["nim"] == BUILT_IN["nim"]
    assert find_world("nim").__module__ == "cohabit.worlds.nim"


def test_an_entry_point_that_is_not_a_world_is_refused(installed: Path) -> None:
    with pytest.raises(BadArgs, match="word is not a World class"):
        find_world("word")


# -- config -------------------------------------------------------------------------------------
def test_the_config_has_the_parameters_of_init_with_their_defaults(tmp_path: Path) -> None:
    source = write(tmp_path / "game.py", "Alone")
    made = make_world(source, {"title": "large"})
    assert (made.size, made.title) == (3, "large")


@pytest.mark.parametrize(
    ("config", "says"),
    [({"sise": 3}, "sise"), ({"size": "3"}, "size.*whole number"), ({"size": None}, "size"), ({"size": 3.5}, "size")],
)
def test_unknown_config_is_refused_with_the_parameters_that_the_world_takes(
    tmp_path: Path, config: dict[str, object], says: str
) -> None:
    with pytest.raises(BadArgs, match=rf"{says}.*it takes size, title"):
        make_world(write(tmp_path / "game.py", "Alone"), config)


def test_a_world_that_takes_no_config_says_so(tmp_path: Path) -> None:
    path = tmp_path / "game.py"
    path.write_text(HEAD + "class Plain(World):\n    spec = WorldSpec(name='plain')\n")
    with pytest.raises(BadArgs, match="it takes no arguments"):
        make_world(str(path), {"size": 3})


# -- finding it again ---------------------------------------------------------------------------
def test_a_lasting_source_finds_the_same_world_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "game.py", "First", "Second")
    write(tmp_path / "single.py", "Alone")
    monkeypatch.chdir(tmp_path)
    lasting = [lasting_source(source) for source in ("game.py:Second", "./single.py", "nim")]
    assert lasting == [f"{(tmp_path / 'game.py').resolve()}:Second", str((tmp_path / "single.py").resolve()), "nim"]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert [find_world(source).__name__ for source in lasting] == ["Second", "Alone", "Nim"]
    assert [lasting_source(source) for source in lasting] == lasting
