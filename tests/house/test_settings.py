"""Settings: where they come from, which one wins, and the addresses and folders that follow from them."""

from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import BadArgs
from cohabit.house.settings import Settings, check_houses, default_folder, load_settings


def test_an_option_wins_over_the_environment_and_both_over_the_default() -> None:
    found = load_settings({"port": 9000, "host": None}, {"COHABIT_PORT": "8000", "COHABIT_HOST": "::1", "PORT": "1"})
    assert (found.port, found.host, found.queue_limit) == (9000, "::1", Settings().queue_limit)


def test_an_empty_variable_is_like_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings({}, {"COHABIT_PORT": ""}) == Settings()
    monkeypatch.setenv("COHABIT_PORT", "8123")
    assert load_settings({}).port == 8123


@pytest.mark.parametrize("given", [{"port": "many"}, {"port": 70000}, {"prot": 1}, {"body_limit": 1023}])
def test_a_setting_that_makes_no_sense_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(BadArgs, match=f"settings: .*{next(iter(given))}"):
        load_settings(given, {})


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        (Settings(), "http://127.0.0.1:8724"),
        (Settings(host="0.0.0.0", port=80), "http://127.0.0.1:80"),
        (Settings(host="::", port=80), "http://[::1]:80"),
        (Settings(host="house.example", tls_cert="chain.pem"), "https://house.example:8724"),
        (Settings(public_url="https://play.example/"), "https://play.example"),
    ],
)
def test_the_address_for_clients_is_the_public_one_or_one_that_works_on_this_machine(
    settings: Settings, url: str
) -> None:
    assert settings.url == url


def test_the_data_folder_is_the_given_one_or_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings(data="~/games").folder == Path.home() / "games"
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert Settings().folder == Path.home() / ".local" / "share" / "cohabit"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert Settings().folder == Path("/data/cohabit")
    monkeypatch.setattr("sys.platform", "darwin")
    assert default_folder() == Path.home() / "Library" / "Application Support" / "cohabit"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"houses_address": ""}, "houses_key needs houses_address"),
        ({"houses_address": "8730"}, "not HOST:PORT"),
        ({"houses_address": "db:port"}, "not HOST:PORT"),
        ({"houses_address": "db:70000"}, "not HOST:PORT"),
        ({"store": ""}, "needs store"),
        ({"houses_key": "fifteen letters"}, "at least 16 characters"),
    ],
)
def test_a_house_cannot_be_part_of_a_cluster_without_all_that_it_needs(changed: dict[str, str], problem: str) -> None:
    right = {"houses_address": "10.0.0.5:8730", "houses_key": "sixteen letters!", "store": "postgresql:///cohabit"}
    check_houses(Settings(**right))
    check_houses(Settings())
    with pytest.raises(BadArgs, match=problem) as refused:
        check_houses(Settings(**{**right, **changed}))
    assert (changed.get("houses_key") or right["houses_key"]) not in refused.value.message


def test_every_default_is_the_one_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")] for line in page.splitlines() if line.startswith("| `")]
    documented = {cells[1].strip("`"): (cells[2], cells[3]) for cells in rows}
    defaults = {name: getattr(Settings(), name) for name in Settings.__struct_fields__}
    assert documented == {
        name: (f"`COHABIT_{name.upper()}`", f"`{value}`" if value != "" else "") for name, value in defaults.items()
    }


AT_LEAST: dict[float, list[str]] = {
    1024: ["body_limit", "frame_limit", "header_limit", "queue_bytes", "outbox_bytes", "outboxes_bytes",
           "member_bytes_per_hour"],
    256: ["url_limit"],
    10: ["beat_ms"],
    1: ["write_timeout_s", "connections_limit", "connections_per_address", "frames_per_second", "queue_limit",
        "calls_per_second", "outbox_limit", "connections_per_member", "rooms_limit", "members_limit", "snapshot_every",
        "recent_entries", "away_ms"],
    0: ["port", "bridge_port", "nexus_port", "room_bytes", "keep_entries"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "least"), [(name, least) for least, names in AT_LEAST.items() for name in names])
def test_a_limit_that_nothing_could_keep_is_refused_and_the_smallest_one_is_not(name: str, least: int) -> None:
    assert getattr(load_settings({name: least}, {}), name) == least
    with pytest.raises(BadArgs, match=f"settings: .*{name}"):
        load_settings({name: least - 1}, {})


@pytest.mark.parametrize("name", ["port", "bridge_port", "nexus_port"])
def test_a_port_is_at_most_65535(name: str) -> None:
    assert getattr(load_settings({name: 65535}, {}), name) == 65535
    with pytest.raises(BadArgs, match=f"settings: .*{name}"):
        load_settings({name: 65536}, {})
