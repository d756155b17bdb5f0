"""Settings: where they come from, which one wins, and the addresses and folders that follow from them."""

from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import BadArgs
from cohabit.house.settings import Settings, default_folder, load_settings


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
