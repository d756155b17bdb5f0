"""Signed commits: valid ones, by a stranger, and by another member in my name. With keys of a real ssh-keygen."""

import shutil
import subprocess
from pathlib import Path

import pytest

from cohabit.errors import BadArgs, GitFailed
from cohabit.workspace.clone import commits, refs
from cohabit.workspace.clone.signing import Signing, configured, verification
from cohabit.workspace.reading import history, news

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> Path:
    """A key each for Ann, Bob and a stranger, and the file that lists those of Ann and Bob."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ann", "bob", "eve"):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name]
        subprocess.run(make, check=True, stdin=subprocess.DEVNULL)
    known = [f"{name}@example.org {(folder / f'{name}.pub').read_text()}" for name in ("ann", "bob")]
    (folder / "allowed_signers").write_text("".join(known))
    return folder


def committed(ws, path: str) -> str:
    ws.tree.write(path, path.encode())
    commits.add(ws, [path])
    return commits.commit_index(ws, f"write {path}").sha


def test_a_log_has_the_signer_and_whether_the_author_is_verified(board, keys):
    ann = board("ann-cli")
    signers = keys / "allowed_signers"
    committed(ann, "unsigned.md")
    for key, path in (("ann", "good.md"), ("eve", "stranger.md"), ("bob", "another.md")):
        ann.signing = Signing(keys / key, signers)
        committed(ann, path)
    told = {c["message"]: (c["verified"], c.get("signed_by")) for c in history.log(ann)["commits"]}
    assert told == {
        "[ann-cli] write unsigned.md": (None, None),
        "[ann-cli] write good.md": (True, "ann@example.org"),
        "[ann-cli] write stranger.md": (False, None),
        "[ann-cli] write another.md": (False, "bob@example.org"),
    }


def test_whats_new_has_it_and_does_not_take_an_unverified_commit_in_my_name_for_mine(board, keys):
    signers = keys / "allowed_signers"
    ann = board("ann-cli")
    ann.signing = Signing(keys / "ann", signers)
    committed(ann, "first.md")
    news.whats_new(ann)
    committed(ann, "mine.md")
    impostor = board("ann-cli")  # who writes Ann's name, address and agent id
    impostor.signing = Signing(keys / "eve", signers)
    committed(impostor, "forged.md")
    impostor.signing = Signing(None, signers)
    committed(impostor, "unsigned.md")
    bob = board("bob-cli")
    bob.signing = Signing(keys / "bob", signers)
    committed(bob, "bobs.md")
    answer = news.whats_new(ann)
    assert [(c["message"].split()[-1], c["verified"]) for c in answer["new_commits"]] == [
        ("bobs.md", True), ("unsigned.md", None), ("forged.md", False)
    ]  # fmt: skip
    assert answer["own_commits"] == 1


def test_a_commit_of_a_tree_is_signed_too(board, keys):
    ws = board()
    ws.signing = Signing(keys / "ann", keys / "allowed_signers")
    first = committed(ws, "a.md")
    tree = ws.git.run("rev-parse", f"{first}^{{tree}}").line
    sha = commits.commit_tree(ws, tree, [first], "merge")
    (told,) = history.commits(ws, "--no-walk", sha)
    assert told["verified"] is True


def test_without_signing_set_up_there_is_no_verified_field(board):
    ws = board()
    committed(ws, "a.md")
    assert "verified" not in history.log(ws)["commits"][0]


@pytest.mark.parametrize("key", ["no-such-key", "text"])
def test_a_key_that_cannot_sign_makes_no_commit_and_its_path_is_not_shown(board, tmp_path, key):
    ws = board()
    (tmp_path / "text").write_text("not a key")
    ws.signing = Signing(tmp_path / key)
    with pytest.raises((BadArgs, GitFailed), match="nothing was committed") as told:
        committed(ws, "a.md")
    assert str(tmp_path) not in told.value.message
    assert refs.head(ws) is None


def test_a_pgp_signature_starts_no_gpg_and_is_not_verified(board, keys, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gpg").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tmp_path / "bin/gpg").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin", prepend=":")
    ws = board()
    sha = committed(ws, "a.md")
    raw = ws.git.run("cat-file", "commit", sha).text
    head, _, body = raw.partition("\n\n")
    head += "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abcd\n -----END PGP SIGNATURE-----"
    signed = ws.git.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{head}\n\n{body}".encode()).line
    ws.signing = Signing(None, keys / "allowed_signers")
    (told,) = history.commits(ws, "--no-walk", signed)
    assert told["verified"] is not True
    assert not (tmp_path / "ran").exists()


def test_the_environment_comes_before_the_clients_file_and_that_before_the_common_one(tmp_path):
    assert configured(tmp_path, {}) == Signing(None, None)
    (tmp_path / "identity.json").write_text('{"signing_key": "/common"}')
    (tmp_path / "identity.cowork.json").write_text('{"signing_key": "/own"}')
    (tmp_path / "allowed_signers").write_text("")
    assert configured(tmp_path, {}, "cursor") == Signing(Path("/common"), tmp_path / "allowed_signers")
    assert configured(tmp_path, {}, "cowork").key == Path("/own")
    assert configured(tmp_path, {"COHABIT_SIGNING_KEY": "/env"}, "cowork").key == Path("/env")
    (tmp_path / "identity.cowork.json").write_text('{"torn')
    assert configured(tmp_path, {}, "cowork").key == Path("/common")


@pytest.mark.parametrize("code", ["B", "U", "X", "Y", "R", "E"])
def test_only_a_good_signature_verifies(code):
    assert verification(code, "ann@example.org", "ann@example.org") == {"verified": False}


def test_a_key_may_be_given_to_several_addresses():
    assert verification("G", "ann@work.org,ann@example.org", "ann@example.org")["verified"] is True


def test_a_key_path_may_begin_with_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/somewhere/else")
    said = {"HOME": str(tmp_path), "COHABIT_SIGNING_KEY": "~/keys/ann"}
    assert configured(tmp_path, said).key == tmp_path / "keys" / "ann"


@pytest.mark.parametrize("key", ["~nosuchuser/key", "~", "keys/ann", "./ann"])
def test_a_key_path_that_is_not_absolute_is_refused_when_a_commit_needs_it(tmp_path, monkeypatch, key):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ann").write_text("a key")
    made = configured(tmp_path, {"HOME": str(tmp_path), "COHABIT_SIGNING_KEY": key})
    with pytest.raises(BadArgs, match="nothing was committed"):
        made.option()
