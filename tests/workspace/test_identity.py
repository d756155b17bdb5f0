"""The identity of an agent, and the order of its sources."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs
from cohabit.workspace.person.identity import Identity, client_files, client_name, find, missing

ANN = {"agent_id": "ann-zed", "agent_name": "Ann", "agent_email": "ann@example.org"}
LEGACY = {"agent_id": "old-one", "agent_name": "Old", "agent_email": "old@example.org", "workspaces": {}}


def write(home, name, content):
    home.mkdir(exist_ok=True)
    (home / name).write_text(content if isinstance(content, str) else json.dumps(content))


def env(family, **over):
    said = {"AGENT_ID": "env-one", "AGENT_NAME": "Env", "AGENT_EMAIL": "env@example.org"} | over
    return {f"{family}_{key}": value for key, value in said.items()}


def test_the_sources_are_used_in_order(tmp_path):
    write(tmp_path, "config.json", LEGACY)
    assert find(tmp_path, {}, "zed").agent_id == "old-one"
    write(tmp_path, "identity.json", {"user_slug": "ann", "agent_name": "Ann", "agent_email": "a@b"})
    assert find(tmp_path, {}, None).agent_id == "old-one", "a slug needs a client"
    assert find(tmp_path, {}, "zed").agent_id == "ann-zed"
    write(tmp_path, "identity.json", ANN | {"agent_id": "ann-all", "user_slug": "ann"})
    assert find(tmp_path, {}, "zed").agent_id == "ann-all"
    write(tmp_path, "identity.zed.json", ANN | {"agent_id": "ann-own"})
    assert find(tmp_path, {}, "zed").agent_id == "ann-own"
    assert find(tmp_path, {}, "hut").agent_id == "ann-all"
    assert find(tmp_path, env("MULTISPHERE"), "zed").agent_id == "env-one"
    both = env("MULTISPHERE") | env("COHABIT", AGENT_ID="ours")
    assert find(tmp_path, both, "zed") == Identity("ours", "Env", "env@example.org")


def test_the_clients_own_file_beats_the_legacy_one_in_id_and_name(tmp_path):
    write(tmp_path, "config.json", LEGACY)
    write(tmp_path, "identity.cowork.json", ANN)
    assert find(tmp_path, {}, "cowork") == Identity("ann-zed", "Ann", "ann@example.org")


@pytest.mark.parametrize("missing", ["AGENT_ID", "AGENT_NAME", "AGENT_EMAIL"])
@pytest.mark.parametrize("blank", ["", "  "])
def test_the_environment_counts_only_with_all_three_fields(tmp_path, missing, blank):
    write(tmp_path, "config.json", LEGACY)
    assert find(tmp_path, env("COHABIT", **{missing: blank}), None).agent_id == "old-one"


def test_a_client_that_is_not_a_slug_reads_the_file_of_its_name_then_that_of_its_slug(tmp_path):
    write(tmp_path, "identity.json", {"user_slug": "ann", "agent_name": "Ann", "agent_email": "a@b"})
    assert find(tmp_path, {}, "Cursor").agent_id == "ann-cursor"
    write(tmp_path, "identity.cursor.json", ANN | {"agent_id": "ann-slug"})
    assert find(tmp_path, {}, "Cursor").agent_id == "ann-slug"
    write(tmp_path, "identity.Cursor.json", ANN | {"agent_id": "ann-given"})
    assert find(tmp_path, {}, "Cursor").agent_id == "ann-given"
    assert client_files("Cursor") == ["identity.Cursor.json", "identity.cursor.json"]


@pytest.mark.parametrize("client", ["claude-code-work", "claude-desktop", "my_app", "v1.2"])
def test_a_client_that_is_a_slug_reads_no_file_of_a_similar_name(tmp_path, client):
    write(tmp_path, "identity.json", {"user_slug": "ann", "agent_name": "Ann", "agent_email": "a@b"})
    for other in ("claude-code", "cowork", "my-app", "v1-2"):
        write(tmp_path, f"identity.{other}.json", ANN)
    assert find(tmp_path, {}, client).agent_id == f"ann-{client}"
    assert client_files(client) == [f"identity.{client}.json"]


@pytest.mark.parametrize(
    ("client", "slug"), [("zed-", "zed"), ("a..b", "a-b"), ("my_App", "my-app"), ("x" * 64, "x" * 40)]
)
def test_an_id_is_derived_from_any_client_in_the_environment(tmp_path, client, slug):
    write(tmp_path, "identity.json", {"user_slug": "ann", "agent_name": "Ann", "agent_email": "a@b"})
    assert find(tmp_path, {}, client).agent_id == f"ann-{slug}"


def test_an_unknown_client_has_no_file_of_its_own():
    assert client_files(None) == client_files("") == []


@pytest.mark.parametrize("said", ["Claude Desktop", "Cursor", "../x"])
def test_a_complete_identity_in_the_environment_counts_for_any_client(tmp_path, said):
    environ = env("MULTISPHERE") | {"MULTISPHERE_CLIENT": said}
    assert find(tmp_path, environ, client_name(environ, None, "/")).agent_id == "env-one"


def test_a_file_without_all_three_fields_is_skipped(tmp_path):
    write(tmp_path, "identity.zed.json", {"agent_id": "half"})
    write(tmp_path, "identity.json", ANN)
    assert find(tmp_path, {}, "zed").agent_id == "ann-zed"


def test_the_error_without_an_identity_names_the_client_and_says_what_to_do(tmp_path):
    assert find(tmp_path, {}, "zed") is None
    for word in ("client: zed", "COHABIT_AGENT_ID", "identity.zed.json", "identity.json", "user_slug"):
        assert word in missing("zed").message


@pytest.mark.parametrize("content", ["", "{", "[1]", "null", '{"agent_id": 3}', "\x00", "[" * 100_000])
@pytest.mark.parametrize("name", ["identity.zed.json", "identity.json", "config.json"])
def test_a_damaged_or_invalid_file_is_named(tmp_path, name, content):
    write(tmp_path, name, content)
    with pytest.raises(BadArgs) as told:
        find(tmp_path, {}, "zed")
    assert told.value.message.startswith(f"{name} in the settings folder")
    assert str(tmp_path) not in told.value.message


def test_a_folder_where_a_file_should_be_is_named(tmp_path):
    (tmp_path / "identity.json").mkdir()
    with pytest.raises(BadArgs, match=r"^identity\.json in the settings folder cannot be read"):
        find(tmp_path, {}, None)


@pytest.mark.parametrize(
    "agent_id",
    ["", ".", "..", "a..b", "../journal", "a/b", "-rf", "Ann", "a b", "a\n", "a\x00", "é", "a" * 65, "x-", "@x", "[x]"],
)
def test_an_id_that_is_not_a_slug_is_refused_from_every_source(tmp_path, agent_id):
    with pytest.raises(BadArgs, match="is not valid"):
        Identity(agent_id, "Ann", "ann@example.org")
    if agent_id.strip():
        write(tmp_path, "identity.json", ANN | {"agent_id": agent_id + "/"})
        with pytest.raises(BadArgs, match=r"identity\.json in the settings folder: agent_id"):
            find(tmp_path, {}, None)


@pytest.mark.parametrize("text", ["", " ", "a\nb", "a\x1b[31mb", "<a>", "x" * 201, "a\x00b", "a\u202eb"])
def test_a_name_or_address_that_would_break_a_commit_is_refused(text):
    with pytest.raises(BadArgs, match="agent_name"):
        Identity("ann", text, "ann@example.org")
    with pytest.raises(BadArgs, match="agent_email"):
        Identity("ann", "Ann", text)


@given(st.text(), st.text(), st.text())
def test_every_valid_id_is_one_line_and_a_plain_file_name(agent_id, name, email):
    try:
        who = Identity(agent_id, name, email)
    except BadArgs:
        return
    assert not set(who.agent_id) & set("/\\\0\n @[]")
    assert "\n" not in who.agent_name + who.agent_email
