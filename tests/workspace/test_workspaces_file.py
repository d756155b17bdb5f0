"""``workspaces.json``: shared by all clients of a person, never torn, nothing of others lost."""

import json
import threading

import pytest

from cohabit.errors import BadArgs
from cohabit.workspace.person.registry import Place, Registry, checked


def place(name):
    return Place(name=name, remote=f"/remote/{name}", local_path=f"/local/{name}")


def test_added_workspaces_are_listed_and_the_first_is_the_default(tmp_path):
    registry = Registry(tmp_path / "home")
    assert registry.places() == {}
    assert registry.default() is None
    assert registry.add(place("one")) == "one"
    assert registry.add(place("two")) == "one"
    assert list(registry.places()) == ["one", "two"]
    assert json.loads((tmp_path / "home" / "workspaces.json").read_text()) == {
        "workspaces": {
            "one": {"remote": "/remote/one", "local_path": "/local/one"},
            "two": {"remote": "/remote/two", "local_path": "/local/two"},
        },
        "active_workspace": "one",
    }


def test_keys_of_other_programs_stay(tmp_path):
    old = {
        "theirs": [1],
        "workspaces": {"one": {"remote": "r", "local_path": "/l", "pinned": True}},
        "active_workspace": None,
    }
    (tmp_path / "workspaces.json").write_text(json.dumps(old))
    registry = Registry(tmp_path)
    registry.add(place("one"))
    registry.set_default("one")
    found = json.loads((tmp_path / "workspaces.json").read_text())
    assert found["theirs"] == [1]
    assert found["workspaces"]["one"] == {"remote": "/remote/one", "local_path": "/local/one", "pinned": True}


def test_the_legacy_file_is_read_where_there_is_no_other_and_never_written(tmp_path):
    legacy = {"agent_id": "a", "workspaces": {"old": {"remote": "r", "local_path": "/l"}}, "active_workspace": "old"}
    before = json.dumps(legacy)
    (tmp_path / "config.json").write_text(before)
    registry = Registry(tmp_path)
    assert list(registry.places()) == ["old"]
    assert registry.default() == "old"
    registry.add(place("new"))
    assert list(registry.places()) == ["old", "new"]
    assert registry.default() == "old"
    assert (tmp_path / "config.json").read_text() == before
    assert "agent_id" not in json.loads((tmp_path / "workspaces.json").read_text())


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"workspaces": []}',
        '{"workspaces": {"a": 1}}',
        '{"workspaces": {"a": {"local_path": 1}}}',
        '{"workspaces": {"a": {}}}',
    ],
)
def test_a_torn_or_wrong_file_is_named_and_not_written_over(tmp_path, content):
    (tmp_path / "workspaces.json").write_text(content)
    with pytest.raises(BadArgs, match=r"workspaces\.json") as told:
        Registry(tmp_path).places()
    assert str(tmp_path) not in told.value.message
    assert (tmp_path / "workspaces.json").read_text() == content


@pytest.mark.parametrize("name", ["", " ", "..", "a/b", "-x", "x" * 65, "a\nb", "a\x1b", ".a", "a.", 'a"b'])
def test_names_that_would_confuse_are_refused(name):
    with pytest.raises(BadArgs, match="name must be"):
        checked(name)


def test_many_at_once_lose_nothing_and_a_reader_never_sees_a_torn_file(tmp_path):
    registry, stop, seen = Registry(tmp_path), threading.Event(), []

    def look():
        while not stop.is_set():
            seen.append(len(Registry(tmp_path).places()))

    def add(part):
        for i in range(10):
            Registry(tmp_path).add(place(f"{part}-{i}"))

    reader = threading.Thread(target=look)
    writers = [threading.Thread(target=add, args=[part]) for part in "abcd"]
    for thread in [reader, *writers]:
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    reader.join()
    assert len(registry.places()) == 40
    assert seen == sorted(seen)
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".new"]
