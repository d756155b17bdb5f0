"""All settings of a house: name, default and description.

A setting comes from the command line (``--port``), then the environment (``COHABIT_PORT``), then the default.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from cohabit.declare import object_schema
from cohabit.errors import BadArgs
from cohabit.model.validation_errors import in_words


def _doc(text: str, ge: float | None = None, le: float | None = None) -> Meta:
    return Meta(description=text, ge=ge, le=le)


class Settings(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The settings of a house; `docs/settings.md` lists them."""

    host: Annotated[str, _doc("address to listen on; anything but loopback needs TLS or a proxy in front")] = (
        "127.0.0.1"
    )
    port: Annotated[int, _doc("port to listen on", ge=0, le=65535)] = 8724
    bridge_port: Annotated[
        int, _doc("port for clients of the WorldBox bridge, always on loopback; 0: none", ge=0, le=65535)
    ] = 8723
    nexus_port: Annotated[
        int, _doc("port for clients of the Nexus, if the house has one, always on loopback; 0: none", ge=0, le=65535)
    ] = 9998
    data: Annotated[str, _doc("data folder; the command line uses a per-user folder by default")] = ""
    store: Annotated[
        str,
        _doc(
            "database for everything that must not be lost, such as postgresql://USER@HOST/NAME; by default SQLite in "
            "the data folder"
        ),
    ] = ""
    workers: Annotated[
        int, _doc("processes that run the rooms; 1: the process that also accepts the connections", ge=1, le=256)
    ] = 1
    houses_address: Annotated[
        str,
        _doc(
            "HOST:PORT on which other houses with the same PostgreSQL store reach this one, in a private network; "
            "together they are one cluster. Empty: this house is alone"
        ),
    ] = ""
    houses_key: Annotated[
        str,
        _doc("secret that the houses of a cluster share, at least 16 characters; set it in the environment"),
    ] = ""
    worker_timeout_s: Annotated[
        float, _doc("a worker that does not answer for this long is killed, and its rooms open in the others", ge=0.5)
    ] = 10.0
    worker_memory_mb: Annotated[
        int, _doc("a worker that uses more memory than this is killed, on Linux; 0: no limit", ge=0)
    ] = 0
    metrics_rooms: Annotated[
        int, _doc("rooms that /metrics names, those with the most calls; 0: none", ge=0, le=1_000)
    ] = 0
    public_url: Annotated[str, _doc("address that clients see, behind a reverse proxy")] = ""
    proxies: Annotated[
        str,
        _doc(
            "addresses of reverse proxies, separated by commas: their X-Forwarded-For is believed; with public_url, "
            "loopback is one"
        ),
    ] = ""
    tls_cert: Annotated[str, _doc("PEM file with the certificate chain")] = ""
    tls_key: Annotated[str, _doc("PEM file with its private key")] = ""
    allowed_hosts: Annotated[str, _doc("further Host names to accept, separated by commas")] = ""
    allowed_origins: Annotated[str, _doc("further browser Origins to accept, separated by commas")] = ""
    log_level: Annotated[str, _doc("debug, info, warning or error")] = "info"
    oauth_issuer: Annotated[
        str, _doc("address of the identity provider whose access tokens sign people in (OAuth 2.1); empty: none")
    ] = ""
    oauth_audience: Annotated[
        str, _doc("audience that access tokens must have; by default the address of the house (see public_url)")
    ] = ""
    oauth_scopes: Annotated[str, _doc("scopes that an access token must have, separated by commas")] = ""
    oauth_require: Annotated[
        str, _doc("claims of which an access token must have one, as CLAIM=VALUE, separated by semicolons")
    ] = ""
    oauth_roles: Annotated[
        str,
        _doc("roles that claims give in rooms, as CLAIM=VALUE -> ROLE in ROOM, separated by semicolons; see oauth.md"),
    ] = ""
    body_limit: Annotated[int, _doc("largest request body, in bytes", ge=1024)] = 4 * 1024 * 1024
    frame_limit: Annotated[int, _doc("largest WebSocket frame from a client, in bytes", ge=1024)] = 1024 * 1024
    header_limit: Annotated[int, _doc("largest headers of a request, in bytes", ge=1024)] = 32 * 1024
    url_limit: Annotated[int, _doc("longest address of a request, in bytes", ge=256)] = 16 * 1024
    request_timeout_s: Annotated[
        float, _doc("a request must be complete this long after it began, or after the connection was made", ge=0.1)
    ] = 20.0
    write_timeout_s: Annotated[
        float, _doc("a connection is closed when its client reads nothing for this long", ge=1)
    ] = 30.0
    connections_limit: Annotated[
        int, _doc("open connections of all clients; fewer if the process may not open that many files", ge=1)
    ] = 4_000
    connections_per_address: Annotated[int, _doc("open connections per client address; see proxies", ge=1)] = 1_024
    frames_per_second: Annotated[
        int, _doc("frames per second on a WebSocket, 4 KiB each; reading slows down beyond that", ge=1)
    ] = 2_000
    media_frame_limit: Annotated[int, _doc("largest frame of sound or of a screen, in bytes", ge=1)] = 128 * 1024
    media_frames_per_second: Annotated[
        int, _doc("frames of sound and of screens per second that a member may send to a room; more are dropped", ge=0)
    ] = 100
    media_bytes_per_second: Annotated[
        int, _doc("bytes of such frames per second that a member may send to a room; more are dropped", ge=0)
    ] = 1024 * 1024
    queue_limit: Annotated[int, _doc("calls that may wait for one room; more are refused with BUSY", ge=1)] = 10_000
    queue_bytes: Annotated[
        int, _doc("bytes that may wait to be written for one room; more calls are refused with BUSY", ge=1024)
    ] = 16 * 1024**2
    agent_seconds: Annotated[
        float, _doc("how long an agent of this house may think about one decision, in seconds", ge=0.1)
    ] = 60.0
    agents_dollars: Annotated[
        float, _doc("what the agents of this house may spend until it is restarted, in US dollars; 0: no cap", ge=0)
    ] = 0.0
    transcript_bytes: Annotated[
        int, _doc("largest transcript of the agents of a room, in bytes; 0: no transcripts", ge=0)
    ] = 64 * 1024**2
    brains: Annotated[
        str, _doc("brains, besides the built-in scripts, that members may choose over a network, separated by commas")
    ] = ""
    calls_per_second: Annotated[int, _doc("calls per second that a member may make to one room", ge=1)] = 1_000
    outbox_limit: Annotated[
        int, _doc("maximum queued event frames per subscription; a slower reader is disconnected", ge=1)
    ] = 1_000
    outbox_bytes: Annotated[
        int, _doc("maximum queued bytes per subscription; a slower reader is disconnected", ge=1024)
    ] = 16 * 1024**2
    outboxes_bytes: Annotated[
        int, _doc("maximum queued bytes of all subscriptions; the slowest reader is disconnected", ge=1024)
    ] = 256 * 1024**2
    connections_per_member: Annotated[int, _doc("WebSocket connections, and MCP sessions, per token", ge=1)] = 20
    watchers_limit: Annotated[
        int, _doc("WebSocket connections with the link of a room with which anybody watches", ge=1)
    ] = 500
    egress_budget: Annotated[
        int,
        _doc(
            "bytes that may be sent to a member of a room in all, unless its host sets another budget; 0: no limit. "
            "Sealed rooms count in steps of 65536 bytes",
            ge=0,
        ),
    ] = 0
    rooms_limit: Annotated[int, _doc("maximum rooms in a house", ge=1)] = 1_000
    members_limit: Annotated[int, _doc("maximum members in a room", ge=1)] = 5_000
    member_bytes_per_hour: Annotated[
        int, _doc("bytes per hour that a member may add to the record of a room", ge=1024)
    ] = 1024**3
    room_bytes: Annotated[int, _doc("maximum size of a room's record, in bytes; 0: no limit", ge=0)] = 16 * 1024**3
    snapshot_every: Annotated[int, _doc("entries between two snapshots of a room", ge=1)] = 1_000
    recent_entries: Annotated[int, _doc("entries of a room kept in memory for readers", ge=1)] = 1_000
    keep_entries: Annotated[int, _doc("entries of a room kept on disk; 0 keeps all", ge=0)] = 0
    keep_rooms_days: Annotated[
        float,
        _doc("days after its game ended, or it was archived, that a room without watchers is deleted; 0: never", ge=0),
    ] = 0.0
    keep_audit_days: Annotated[
        float, _doc("days that the audit goes back; 0: to the beginning of the record", ge=0)
    ] = 0.0
    keep_transcripts_days: Annotated[
        float, _doc("days that the transcripts and memories of agents stay after the last decision; 0: always", ge=0)
    ] = 0.0
    heads_file: Annotated[
        str, _doc("file to append the heads of the records to, outside the data folder; see `cohabit verify --heads`")
    ] = ""
    heads_key: Annotated[str, _doc("file with a secret that signs the lines of heads_file (HMAC-SHA-256)")] = ""
    heads_every_s: Annotated[float, _doc("seconds between two writes to heads_file", ge=0.1)] = 10.0
    world_deadline_s: Annotated[
        float, _doc("how long a world may compute or block in a call before its room is quarantined", ge=0.05)
    ] = 5.0
    trusted_worlds: Annotated[
        str,
        _doc(
            "names or files of quick worlds that are not part of Cohabit and may run on the event loop, separated by "
            "commas; one that blocks there stops the whole house"
        ),
    ] = ""
    features: Annotated[
        str, _doc("features that every new room has besides the built-in ones: files or names, separated by commas")
    ] = ""
    away_ms: Annotated[int, _doc("a member counts as away after this long without a call", ge=1)] = 60_000
    sleep_seconds: Annotated[
        int,
        _doc(
            "in new rooms with bodies and rounds: a body sleeps when its player has missed rounds for this long, or "
            "was away this long where they have no time limit; 0: never",
            ge=0,
        ),
    ] = 120
    beat_ms: Annotated[int, _doc("tick interval of real-time worlds", ge=10)] = 200

    @property
    def keeps_data(self) -> bool:
        """True if anything is left when the house is closed."""
        return bool(self.data or self.store)

    @property
    def folder(self) -> Path:
        return Path(self.data).expanduser() if self.data else default_folder()

    @property
    def url(self) -> str:
        """The address for clients on this machine, or the public one."""
        if self.public_url:
            return self.public_url.rstrip("/")
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        host = f"[{host}]" if ":" in host else host
        return f"{'https' if self.tls_cert else 'http'}://{host}:{self.port}"


MIN_KEY_CHARACTERS = 16


def check_houses(settings: Settings) -> None:
    """Raise BAD_ARGS if a house with these settings cannot be part of a cluster. Messages never have the key."""
    if not settings.houses_address:
        if settings.houses_key:
            raise BadArgs("houses_key needs houses_address: HOST:PORT on which the other houses reach this one")
        return
    host, _, port = settings.houses_address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise BadArgs(f"houses_address: {settings.houses_address!r} is not HOST:PORT, such as 10.0.0.5:8730")
    if not settings.store:
        raise BadArgs("houses_address needs store: the PostgreSQL database that all houses of the cluster share")
    if len(settings.houses_key) < MIN_KEY_CHARACTERS:
        raise BadArgs(
            f"houses_address needs houses_key: a secret of at least {MIN_KEY_CHARACTERS} characters, the same in every "
            "house of the cluster. Set COHABIT_HOUSES_KEY"
        )


def split_names(names: str) -> list[str]:
    """The values of a setting that takes several, separated by commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


def default_folder() -> Path:
    """The per-user data folder, used by default."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "cohabit"
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "cohabit"


def load_settings(given: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from ``given``, then the environment, then the defaults."""
    environ = os.environ if environ is None else environ
    found: dict[str, Any] = {}
    for name in Settings.__struct_fields__:
        variable = f"COHABIT_{name.upper()}"
        if environ.get(variable):
            found[name] = environ[variable]
    found.update({k: v for k, v in given.items() if v is not None})
    try:
        return msgspec.convert(found, Settings, strict=False)
    except msgspec.ValidationError as wrong:
        raise BadArgs(f"settings: {in_words(wrong, found, object_schema(Settings))}") from None


def settings_table() -> list[tuple[str, Any, str]]:
    """Name, default and description of each setting, for the documentation and the command line."""
    described = msgspec.json.schema(Settings)["$defs"]["Settings"]["properties"]
    return [(n, described[n].get("default"), described[n].get("description", "")) for n in Settings.__struct_fields__]
