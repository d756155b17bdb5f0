"""The files of `deploy/` agree with the code: their settings exist, and so does what they copy."""

import re
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from cohabit.faces.connections import RESERVED_FILES
from cohabit.house.settings import Settings, check_houses, load_settings

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"


FILES = ["Containerfile", "cohabit.service", "cohabit.service.d/houses.conf", "compose.yaml"]


@pytest.mark.parametrize("name", FILES)
def test_every_variable_is_a_setting(name: str) -> None:
    found = {word.lower() for word in re.findall(r"COHABIT_([A-Z_]+)[=:]", (DEPLOY / name).read_text())}
    assert found
    assert found <= set(Settings.__struct_fields__)


def test_the_image_copies_files_that_exist_and_are_not_ignored() -> None:
    copied = [
        name
        for line in (DEPLOY / "Containerfile").read_text().splitlines()
        if line.startswith("COPY ")
        for name in line.split()[1:-1]
    ]
    assert "src" in copied
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert kept == set(copied)
    assert all((ROOT / name).exists() for name in copied)


def test_the_service_may_open_as_many_files_as_the_house_takes_connections() -> None:
    limit = re.search(r"^LimitNOFILE=(\d+)$", (DEPLOY / "cohabit.service").read_text(), re.MULTILINE)
    assert limit is not None
    assert int(limit[1]) >= Settings().connections_limit + RESERVED_FILES


# -- several houses -----------------------------------------------------------------------------
@pytest.fixture
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


HOUSES = ("house-a", "house-b")
PORT = Settings().port


def test_the_houses_of_the_compose_file_are_one_cluster_over_one_database(compose: Any) -> None:
    secrets = {"HOUSES_KEY": "k" * 48, "DB_PASSWORD": "p" * 48, "PUBLIC_URL": "https://play.example.org"}
    chosen = [settings_of(compose["services"][name]["environment"], secrets) for name in HOUSES]
    for settings in chosen:
        check_houses(settings)
    assert [settings.houses_address.partition(":")[0] for settings in chosen] == [*HOUSES]
    assert len({(settings.store, settings.houses_key, settings.public_url) for settings in chosen}) == 1
    assert chosen[0].store == "postgresql://cohabit@database/cohabit"
    database = compose["services"]["database"]["environment"]
    assert (database["POSTGRES_USER"], database["POSTGRES_DB"]) == ("cohabit", "cohabit")
    volumes = [compose["services"][name]["volumes"] for name in HOUSES]
    assert volumes == [["house-a:/data"], ["house-b:/data"]]  # each has a folder of its own
    assert {"house-a", "house-b", "database"} == {*compose["volumes"]}


def settings_of(environment: dict[str, str], secrets: dict[str, str]) -> Settings:
    """What a house is started with."""
    known = {name: re.sub(r"\$\{(\w+):\?[^}]*\}", lambda m: secrets[m[1]], text) for name, text in environment.items()}
    return load_settings({}, known)


def test_the_compose_file_has_no_secrets_and_nothing_but_the_balancer_is_published(compose: Any) -> None:
    services = compose["services"]
    given = {name: value for one in services.values() for name, value in one.get("environment", {}).items()}
    secret = {name: value for name, value in given.items() if re.search("PASSWORD|KEY|TOKEN", name)}
    assert {*secret} == {"COHABIT_HOUSES_KEY", "PGPASSWORD", "POSTGRES_PASSWORD"}
    assert all(re.fullmatch(r"\$\{(HOUSES_KEY|DB_PASSWORD):\?.+\}", value) for value in secret.values())
    assert [name for name, one in services.items() if "ports" in one] == ["balancer"]
    assert {"deploy/.env", "deploy/tls/"} <= {*(ROOT / ".gitignore").read_text().split()}


def test_the_balancer_knows_the_houses_and_the_houses_know_the_balancer(compose: Any) -> None:
    nginx = (DEPLOY / "nginx.conf").read_text()
    assert re.findall(r"server ([\w-]+:\d+) ", nginx) == [f"{name}:{PORT}" for name in HOUSES]
    balancer = compose["services"]["balancer"]
    address = balancer["networks"]["inside"]["ipv4_address"]
    subnet = compose["networks"]["inside"]["ipam"]["config"][0]["subnet"]
    assert ip_address(address) in ip_network(subnet)
    for name in HOUSES:
        assert compose["services"][name]["environment"]["COHABIT_PROXIES"] == address
    mounted = dict(volume.split(":")[:2] for volume in balancer["volumes"])
    assert mounted == {"./nginx.conf": "/etc/nginx/nginx.conf", "./tls": "/etc/nginx/tls"}
    assert set(re.findall(r"(/etc/nginx/tls)/play\.\w+", nginx)) == {"/etc/nginx/tls"}
    published = [port.split(":")[1] for port in balancer["ports"]]
    assert re.findall(r"listen (\d+)", nginx) == published


def test_a_house_in_a_container_has_time_files_and_memory_as_the_service_has(compose: Any) -> None:
    for name in HOUSES:
        house = compose["services"][name]
        assert house["ulimits"]["nofile"] >= Settings().connections_limit + RESERVED_FILES
        assert (house["read_only"], house["cap_drop"]) == (True, ["ALL"])
        assert house["stop_grace_period"] == "2m"
    unit = (DEPLOY / "cohabit.service.d" / "houses.conf").read_text()
    assert "TimeoutStopSec=120\n" in unit
    assert "[postgres]" in (DEPLOY / "Containerfile").read_text()


def test_the_secrets_of_the_service_are_in_a_file_of_their_own() -> None:
    unit = (DEPLOY / "cohabit.service.d" / "houses.conf").read_text()
    settings = [line for line in unit.splitlines() if line and not line.startswith("#")]
    assert settings == ["[Service]", "EnvironmentFile=/etc/cohabit/house.env", "Restart=always", "TimeoutStopSec=120"]
