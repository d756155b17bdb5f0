"""Signed tokens: what counts, in which order it is checked, and that nothing else ever counts."""

import json
import stat
import subprocess
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, StorageFailed
from cohabit.house.access import codes
from cohabit.house.access.codes import LIFE_MS, Attempts, Challenges
from cohabit.house.access.signing import (
    ASSERTION,
    KEY_FILE,
    AssertionBody,
    InviteBody,
    Jwk,
    SigningKey,
    check_key,
    house_key,
    is_signed_by,
    read,
    thumbprint,
    verify_assertion,
    verify_invite,
)
from cohabit.model.admission import same_code, same_name
from cohabit.testing.clock import FakeClock

NOW = 1_800_000_000
KEY, OTHER = SigningKey.generate(), SigningKey.generate()


def an_invite(**change: Any) -> str:
    return KEY.sign({"name": "Ann", "room": "den", "exp": NOW + 60, **change})


def body_of(token: str) -> Any:
    text = token.partition(".")[0]
    return json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def with_body(token: str, **change: Any) -> str:
    """The token with another body and the old signature."""
    made = urlsafe_b64encode(json.dumps({**body_of(token), **change}).encode()).rstrip(b"=").decode()
    return f"{made}.{token.partition('.')[2]}"


# -- invites ----------------------------------------------------------------------------------------
def test_an_invite_that_was_signed_is_read_back() -> None:
    said = verify_invite(an_invite(kind="agent", uses=3, jti="1"), KEY.public_jwk, "den", NOW)
    assert said == InviteBody(name="Ann", room="den", exp=NOW + 60, kind="agent", uses=3, jti="1")


def test_an_invite_is_checked_with_the_public_key_as_others_get_it() -> None:
    exported = json.loads(json.dumps(KEY.public_jwk))
    assert isinstance(verify_invite(an_invite(), exported, "den", NOW), InviteBody)


def test_a_key_that_is_loaded_again_signs_invites_that_count() -> None:
    again = SigningKey.from_pem(KEY.pem())
    token = again.sign(InviteBody(name="Ann", room="den", exp=NOW + 60))
    assert isinstance(verify_invite(token, KEY.public_jwk, "den", NOW), InviteBody)


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (OTHER.sign({"name": "Ann", "room": "den", "exp": NOW + 60}), "bad signature"),
        (with_body(an_invite(), name="Eve"), "bad signature"),
        (with_body(an_invite(), room="den", exp=NOW + 9_000), "bad signature"),
        (an_invite(room="attic"), "wrong room"),
        (an_invite(room="attic", exp=NOW - 1, name=""), "wrong room"),
        (an_invite(exp=NOW), "expired"),
        (an_invite(exp=NOW, name=""), "expired"),
        (an_invite(name="  "), "no name"),
        (KEY.sign({"room": "den", "exp": NOW + 60}), "no name"),
        ("", "bad signature"),
        (None, "bad signature"),
        (7, "bad signature"),
        ("a.b.c", "bad signature"),
        (an_invite() + "=", "bad signature"),
        (an_invite() + ".", "bad signature"),
        (an_invite().partition(".")[0], "bad signature"),
        (KEY.sign([1, 2]), "bad signature"),
        (KEY.sign({"name": "A" * 3000, "room": "den", "exp": NOW + 60}), "bad signature"),
    ],
    ids=lambda value: value if " " in str(value) else "token",  # a signature differs in each process
)
def test_an_invite_that_does_not_count_is_refused_with_the_first_reason(token: object, reason: str) -> None:
    assert verify_invite(token, KEY.public_jwk, "den", NOW) == reason


@given(st.one_of(st.text(), st.binary().map(lambda b: urlsafe_b64encode(b).decode() + "." + "A" * 86)))
def test_no_text_that_was_not_signed_ever_counts(token: str) -> None:
    assert verify_invite(token, KEY.public_jwk, "den", NOW) == "bad signature"
    keys = [KEY.public_jwk]
    assert isinstance(verify_assertion(token, keys, dict, "den", lambda fp: True, NOW), str)


@given(st.data())
def test_a_token_with_any_character_changed_never_counts(data: st.DataObject) -> None:
    token = an_invite()
    at = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters(codec="utf-8").filter(lambda c: c != token[at]))
    changed = token[:at] + other + token[at + 1 :]
    assert verify_invite(changed, KEY.public_jwk, "den", NOW) == "bad signature"


def test_a_signature_that_is_padded_does_not_count() -> None:
    text, _, encoded = an_invite().partition(".")
    signature = urlsafe_b64decode(encoded + "==")
    padded = urlsafe_b64encode(signature[:32] + b"\0" + signature[32:]).rstrip(b"=").decode()
    assert verify_invite(f"{text}.{padded}", KEY.public_jwk, "den", NOW) == "bad signature"


# -- agent keys -------------------------------------------------------------------------------------
FP = "ab" * 32


def an_assertion(key: SigningKey = KEY, **change: Any) -> str:
    return key.sign({"k": ASSERTION, "room": "den", "fp": FP, "iat": NOW, **change})


def verified(token: object, keys: list[Jwk] | None = None, fp: str = FP, now: int = NOW) -> Any:
    return verify_assertion(token, [KEY.public_jwk] if keys is None else keys, dict, "den", lambda got: got == fp, now)


def test_an_assertion_names_the_key_that_signed_it_among_several() -> None:
    keys: list[Jwk] = [OTHER.public_jwk, KEY.public_jwk]
    assert verified(an_assertion(), keys) == KEY.public_jwk
    assert verified(an_assertion(OTHER), keys) == OTHER.public_jwk


def test_a_challenge_is_compared_without_case_and_spaces() -> None:
    assert verified(an_assertion(fp=f"  {FP.upper()} ")) == KEY.public_jwk


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        ("", "missing assertion"),
        (None, "missing assertion"),
        ("nonsense", "malformed assertion"),
        (an_assertion(k="kbz-host-cmd.v1"), "wrong assertion kind"),
        (an_invite(), "wrong assertion kind"),
        (an_assertion(room="attic"), "wrong room"),
        (an_assertion(fp="cd" * 32), "not bound to a fresh challenge"),
        (an_assertion(fp=""), "not bound to a fresh challenge"),
        (an_assertion(iat=None), "no iat"),
        (an_assertion(iat=NOW + 61), "issued in the future"),
        (an_assertion(iat=NOW - 301), "stale"),
        (an_assertion(OTHER), "no matching key"),
        (with_body(an_assertion(room="attic"), room="den"), "no matching key"),
    ],
    ids=lambda value: value if " " in str(value) else "token",  # a signature differs in each process
)
def test_an_assertion_that_does_not_count_is_refused_with_the_first_reason(token: object, reason: str) -> None:
    assert verified(token) == reason


def test_an_assertion_counts_at_the_edges_of_its_time() -> None:
    for iat in (NOW + 60, NOW - 300):
        assert verified(an_assertion(iat=iat)) == KEY.public_jwk


def test_without_allowed_keys_no_assertion_counts() -> None:
    assert verified(an_assertion(), []) == "no allowed keys"


def test_a_thumbprint_is_stable_and_another_for_each_key() -> None:
    # The P-256 example of RFC 7517, with the thumbprint that other libraries compute for it.
    known = {
        "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", "use": "enc", "kid": "1",
    }  # fmt: skip
    assert thumbprint(known) == "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s"
    assert (
        thumbprint(KEY.public_jwk) == thumbprint(dict(reversed(KEY.public_jwk.items()))) != thumbprint(OTHER.public_jwk)
    )


@pytest.mark.parametrize(
    "change",
    [{"kty": "RSA"}, {"crv": "P-384"}, {"x": ""}, {"x": "AAAA"}, {"y": KEY.public_jwk["x"]}, {"x": "é" * 43}, {"x": 7}],
)
def test_something_that_is_no_key_is_refused(change: dict[str, Any]) -> None:
    wrong = {**KEY.public_jwk, **change}
    with pytest.raises(BadArgs, match="P-256"):
        check_key(wrong)
    assert not is_signed_by(an_invite(), wrong)


def test_only_the_public_part_of_a_key_is_kept() -> None:
    exported = {**KEY.public_jwk, "ext": True, "key_ops": ["verify"]}  # as WebCrypto exports a key
    assert check_key(exported) == KEY.public_jwk
    assert check_key({**KEY.public_jwk, "d": "secret"}) == KEY.public_jwk


# -- the key of a house -----------------------------------------------------------------------------
def test_the_key_of_a_house_stays_the_same_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    first, second = house_key(tmp_path), house_key(tmp_path)
    assert first.public_jwk == second.public_jwk
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def test_a_house_in_memory_has_a_new_key_every_time() -> None:
    assert house_key(None).public_jwk != house_key(None).public_jwk


@pytest.mark.parametrize("other", [ec.generate_private_key(ec.SECP384R1()), Ed25519PrivateKey.generate()])
def test_a_key_of_another_kind_is_reported(tmp_path: Path, other: Any) -> None:
    (tmp_path / KEY_FILE).write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(StorageFailed, match="not a P-256 key"):
        house_key(tmp_path)


def test_a_key_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).mkdir()
    with pytest.raises(StorageFailed, match="cannot be read"):
        house_key(tmp_path)


def test_a_key_that_was_half_written_when_the_house_stopped_is_made_again(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).with_suffix(".part").write_text("half")
    assert house_key(tmp_path).public_jwk == house_key(tmp_path).public_jwk
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def test_a_file_that_is_no_key_is_reported_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_text("nonsense")
    with pytest.raises(StorageFailed, match="not a P-256 key"):
        house_key(tmp_path)
    assert (tmp_path / KEY_FILE).read_text() == "nonsense"


# -- challenges -------------------------------------------------------------------------------------
async def test_a_challenge_is_for_one_room_one_house_one_use_and_a_short_time() -> None:
    clock = FakeClock()
    ours, theirs = Challenges(clock), Challenges(clock)
    made = ours.issue("den")
    assert ours.is_fresh(made, "den")
    assert not ours.is_fresh(made, "attic")
    assert not theirs.is_fresh(made, "den")
    assert made != ours.issue("den")
    ours.use(made)
    assert not ours.is_fresh(made, "den")
    late = ours.issue("den")
    await clock.advance(LIFE_MS - 1)
    assert ours.is_fresh(late, "den")
    await clock.advance(1)
    assert not ours.is_fresh(late, "den")


@given(st.one_of(st.text(), st.binary(max_size=40).map(bytes.hex)))
def test_no_text_is_a_challenge(text: str) -> None:
    assert not Challenges(FakeClock()).is_fresh(text, "den")


async def test_used_challenges_are_forgotten_when_they_have_expired() -> None:
    clock = FakeClock()
    challenges = Challenges(clock)
    for _ in range(5):
        challenges.use(challenges.issue("den"))
        await clock.advance(LIFE_MS)
    assert len(challenges._used) == 1


# -- codes and names --------------------------------------------------------------------------------
def test_a_made_code_has_three_groups_of_three_characters_that_do_not_look_alike() -> None:
    made = [codes.make_code() for _ in range(200)]
    assert {len(group) for code in made for group in code.split("-")} == {3}
    assert {len(code.split("-")) for code in made} == {3}
    assert not set("".join(made)) & set("ILO01")
    assert len(set(made)) > 190


def test_a_code_matches_in_any_case_without_its_hyphens_and_is_not_in_its_hash() -> None:
    stored = codes.hash_code("K7M-2QX")
    for typed in (" k7m-2qx\n", "K7M2QX", "K7M 2QX", "k7m\u20132qx"):
        assert codes.matches(typed, stored)
    for wrong in ("K7M-2QY", "", "  ", "K7M2Q", "-"):
        assert not codes.matches(wrong, stored)
    assert not codes.matches("", codes.hash_code(""))
    assert "K7M" not in stored
    assert stored != codes.hash_code("K7M-2QX")


STORED_CODE = "8aec1b1c28cf820900f36db6:8f7660e40a645f9095b98eff888ef05c002f1e8dab0f9cd4f63160034e392768"


def test_a_code_that_was_stored_long_ago_still_matches() -> None:
    assert codes.matches("K7M-2QX", STORED_CODE)
    assert not codes.matches("K7M-2QY", STORED_CODE)


@pytest.mark.parametrize("stored", ["", ":", "00:"])
def test_where_no_code_is_set_none_matches(stored: str) -> None:
    assert not codes.matches("", stored)
    assert not codes.matches("K7M-2QX", stored)


def test_names_are_compared_without_case_and_extra_spaces() -> None:
    assert same_name("  Ann   LEE ") == same_name("ann lee") != same_name("annlee")
    assert same_code(" Ab ") == "ab"


async def test_too_many_attempts_are_locked_out_and_then_a_new_window_begins() -> None:
    clock = FakeClock()
    attempts = Attempts(clock, 3, 1_000)
    for _ in range(2):
        attempts.add("den")
    await clock.advance(900)
    assert not attempts.is_exhausted("den")
    attempts.add("den")
    await clock.advance(999)
    assert attempts.is_exhausted("den")
    assert not attempts.is_exhausted("attic")
    await clock.advance(1)
    assert not attempts.is_exhausted("den")
    attempts.add("den")
    assert not attempts.is_exhausted("den")


async def test_attempts_older_than_a_window_do_not_count_nor_do_those_of_others() -> None:
    clock = FakeClock()
    attempts = Attempts(clock, 3, 1_000)
    for caller in ("eve", "eve", "bob", "bob"):
        attempts.add("den", caller)
    assert not attempts.is_exhausted("den", "eve")
    assert attempts.is_exhausted("den", "eve", limit=2)
    assert not attempts.is_exhausted("den", "ann", limit=1)
    await clock.advance(1_000)
    for _ in range(2):
        attempts.add("den", "eve")
    assert not attempts.is_exhausted("den", "eve")
    attempts.add("den", "eve")
    assert attempts.is_exhausted("den", "eve")


async def test_attempts_of_very_many_callers_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "MAX_CALLERS", 10)
    clock = FakeClock()
    attempts = Attempts(clock, 1, 1_000)
    for number in range(50):
        attempts.add("den", f"c{number}")
        assert attempts.is_exhausted("den", f"c{number}")
        assert len(attempts._windows) <= 10
    await clock.advance(1_000)
    attempts.add("den", "eve")
    assert len(attempts._windows) == 1


# -- another implementation -------------------------------------------------------------------------
WEBCRYPTO = """
const [token, jwk] = JSON.parse(process.argv[1]);
const b64 = (bytes) => Buffer.from(bytes).toString("base64url");
const kind = { name: "ECDSA", namedCurve: "P-256" }, how = { name: "ECDSA", hash: "SHA-256" };
const key = await crypto.subtle.importKey("jwk", jwk, kind, false, ["verify"]);
const [text, signature] = token.split(".");
const checked = await crypto.subtle.verify(how, key, Buffer.from(signature, "base64url"), Buffer.from(text));
const pair = await crypto.subtle.generateKey(kind, true, ["sign", "verify"]);
const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", pair.publicKey);
const body = b64(Buffer.from(JSON.stringify({ name: "Ann", room: "den", exp: 1800000060 })));
const made = b64(await crypto.subtle.sign(how, pair.privateKey, Buffer.from(body)));
console.log(JSON.stringify({ checked, token: `${body}.${made}`, jwk: { kty, crv, x, y } }));
"""


def test_a_token_made_here_counts_in_webcrypto_and_the_other_way_round(need: Callable[[str], Path]) -> None:
    node = need("node22")
    given = json.dumps([an_invite(), KEY.public_jwk])
    out = subprocess.run(
        [str(node), "--input-type=module", "-e", WEBCRYPTO, given],
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    said = json.loads(out.stdout)
    assert said["checked"] is True
    assert isinstance(verify_invite(said["token"], said["jwk"], "den", NOW), InviteBody)
    assert verify_invite(said["token"], KEY.public_jwk, "den", NOW) == "bad signature"


def test_a_token_has_at_most_2048_characters() -> None:
    longest = next(token for n in range(1300, 1600) if len(token := an_invite(jti="x" * n)) >= 2046)
    assert len(longest) <= 2048
    padded = f"{longest}{'A' * (2048 - len(longest))}"
    assert read(padded, InviteBody) is not None
    assert read(f"{padded}A", InviteBody) is None


def test_what_a_token_says_can_be_read_without_the_key() -> None:
    body = read(an_assertion(), AssertionBody)
    assert body == AssertionBody(ASSERTION, "den", FP, NOW)
