"""Which client an agent runs in. Heard names are made alike, the environment's word is taken as it is if it can be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs
from cohabit.workspace.person.identity import CLIENT_NAME, SLUG, client_name, normalised


@pytest.mark.parametrize(
    ("heard", "slug"),
    [
        ("claude-ai", "cowork"),
        ("claude-app", "cowork"),
        ("claude-desktop", "cowork"),
        ("Claude Desktop", "cowork"),
        ("claude-code", "claude-code"),
        ("Claude Code 2.x", "claude-code"),
        ("claude-code-vscode", "claude-code"),
        ("SomeOtherClient/1.0", "someotherclient-1-0"),
        ("--Zed--", "zed"),
        ("", ""),
        ("日本", ""),
    ],
)
def test_names_from_the_handshake_are_made_alike(heard, slug):
    assert normalised(heard) == slug


@pytest.mark.parametrize("variable", ["CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "CLAUDE_PROJECT_DIR"])
@pytest.mark.parametrize("mark", ["claude-hostloop-plugins", "local-agent-mode-sessions"])
def test_claude_code_in_a_folder_of_coworks_is_cowork(variable, mark):
    assert client_name({variable: f"/x/{mark}/y"}, "claude-code", "/") == "cowork"


def test_claude_code_that_was_started_in_a_folder_of_coworks_is_cowork():
    assert client_name({}, "claude-code", "/x/local-agent-mode-sessions/1") == "cowork"
    assert client_name({}, "claude-code", "/x/code") == "claude-code"


def test_other_clients_are_never_promoted():
    assert client_name({"CLAUDE_PLUGIN_ROOT": "/claude-hostloop-plugins"}, "zed", "/local-agent-mode-sessions") == "zed"


def test_the_environment_beats_what_was_heard_and_ours_beats_the_earlier_tools():
    assert client_name({"MULTISPHERE_CLIENT": "zed"}, "claude-ai", "/") == "zed"
    assert client_name({"MULTISPHERE_CLIENT": "zed", "COHABIT_CLIENT": " Hut "}, "claude-ai", "/") == "Hut"


@pytest.mark.parametrize("blank", ["", "   ", "\t"])
@pytest.mark.parametrize("variable", ["COHABIT_CLIENT", "MULTISPHERE_CLIENT"])
def test_an_empty_variable_is_an_unset_one(variable, blank):
    assert client_name({variable: blank}, "claude-ai", "/") == "cowork"


def test_nobody_said_is_nobody():
    assert client_name({}, None, "/") is None


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Claude Desktop", "cowork"),
        ("Claude Code 2.x", "claude-code"),
        ("../x", "x"),
        ("a/b", "a-b"),
        (".hidden", "hidden"),
        ("-x", "x"),
        ("a\nb", "a-b"),
        ("x" * 65, "x" * 40),
    ],
)
@pytest.mark.parametrize("variable", ["COHABIT_CLIENT", "MULTISPHERE_CLIENT"])
def test_a_variable_that_would_be_no_part_of_a_file_name_is_made_alike(variable, said, name):
    assert client_name({variable: said}, "zed", "/") == name


@pytest.mark.parametrize("name", ["Cursor", "my_App", "claude-code-work", "claude-desktop", "a..b", "zed-"])
def test_a_variable_that_is_a_short_name_is_taken_as_it_is(name):
    assert client_name({"MULTISPHERE_CLIENT": name}, "claude-code", "/local-agent-mode-sessions") == name


@pytest.mark.parametrize("name", ["日本", "--", "..", "/", "\0"])
@pytest.mark.parametrize("variable", ["COHABIT_CLIENT", "MULTISPHERE_CLIENT"])
def test_a_variable_without_any_name_in_it_is_refused_and_named(variable, name):
    with pytest.raises(BadArgs, match=variable):
        client_name({variable: name}, "zed", "/")


@given(st.text())
def test_whatever_the_environment_says_gives_a_part_of_a_file_name_or_nothing(said):
    try:
        name = client_name({"MULTISPHERE_CLIENT": said}, None, "/")
    except BadArgs:
        return
    assert name is None or CLIENT_NAME.fullmatch(name)


@given(st.text())
def test_whatever_a_client_calls_itself_gives_a_slug_or_nothing(heard):
    slug = normalised(heard)
    assert slug == "" or SLUG.fullmatch(f"ann-{slug}")
