"""People who sign in with OAuth are identities of the house, which a host can revoke."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.identity_provider import Provider, listening

from cohabit.errors import BadArgs, Busy, Conflict, PermissionDenied, Unauthorized, UnknownAsset, UnknownRoom
from cohabit.house.access.jwt_verifier import SKEW_S
from cohabit.house.access.sign_in import NEWCOMERS, InsufficientScope, identity_id
from cohabit.house.directory import HOUSE_RECORD
from cohabit.house.house import House
from cohabit.house.lifecycle.retention import SOON_MS
from cohabit.house.store.access_tokens import MAX_EACH
from cohabit.model.identity import Credential
from cohabit.testing.clock import FakeClock

from .making import TOKENS_MADE, make_room, open_house, stored_room

HOUSE = "https://house.example.org"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with listening() as provider:
        yield provider


class Scene:
    def __init__(self, house: House, provider: Provider) -> None:
        self.house, self.provider = house, provider
        self.operator = house.identify(house.operator_token())

    def token(self, audience: str = HOUSE, **claims: Any) -> str:
        made = self.provider.token(audience, **claims)
        TOKENS_MADE.append(made)
        return made

    async def sign_in(self, token: str | None = None, **claims: Any) -> Credential:
        token = token or self.token(**claims)
        await self.house.sign_in(token)
        return self.house.identify(token)

    async def host(self, command: str, **args: Any) -> Any:
        return await self.house.call(self.operator, None, command, args)


@asynccontextmanager
async def scene_of(provider: Provider, folder: Path | None = None, **settings: Any) -> AsyncIterator[Scene]:
    clock = FakeClock()
    provider.now = lambda: clock.now() / 1000
    chosen = {"oauth_issuer": provider.issuer, "public_url": HOUSE, **settings}
    async with open_house(folder, clock=clock, **chosen) as house:
        yield Scene(house, provider)


@pytest.fixture
async def scene(provider: Provider) -> AsyncIterator[Scene]:
    async with scene_of(provider) as scene:
        yield scene


def clock_of(scene: Scene) -> FakeClock:
    assert isinstance(scene.house.clock, FakeClock)
    return scene.house.clock


# -- identities -------------------------------------------------------------------------------------
async def test_somebody_who_signs_in_is_the_same_identity_each_time(scene: Scene) -> None:
    first, second = await scene.sign_in(), await scene.sign_in()
    assert first.hash != second.hash
    assert first.identity == second.identity == identity_id(scene.provider.issuer, "ada-1")
    found = scene.house.identities.get(first.identity)
    assert found is not None
    assert (found.name, found.kind, found.host) == ("ada", "agent", False)
    assert (await scene.sign_in(sub="bob-2")).identity != first.identity


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "ada@example.org"}, "ada"),
        ({"preferred_username": None, "name": "Ada L."}, "Ada-L."),
        ({"preferred_username": None, "client_id": "robot"}, "robot"),
        ({"preferred_username": "the house"}, "the-house"),
        ({"preferred_username": "i-oauth-0"}, "guest-"),
        ({"preferred_username": 7}, "guest-"),
    ],
)
async def test_the_name_comes_from_the_claims_and_is_no_mail_address(scene: Scene, claims: Any, name: str) -> None:
    found = scene.house.identities.get((await scene.sign_in(**claims)).identity)
    assert found is not None
    assert found.name.startswith(name)


async def test_an_identity_is_there_after_a_restart_and_its_access_tokens_are_not(
    provider: Provider, tmp_path: Path
) -> None:
    async with scene_of(provider, tmp_path) as scene:
        token = scene.token()
        before = await scene.sign_in(token)
        assert [c.oauth for c in scene.house.store.credentials()] == ["account"]
    async with scene_of(provider, tmp_path) as scene:
        with pytest.raises(Unauthorized):
            scene.house.identify(token)
        assert (await scene.sign_in(token)).identity == before.identity
        assert len(scene.house.store.credentials()) == 1


async def test_the_hash_of_an_account_is_no_token(scene: Scene) -> None:
    me = await scene.sign_in()
    (account,) = [c for c in scene.house.identities.all_credentials() if c.identity == me.identity]
    for token in (account.hash.decode("latin-1"), account.hash.hex(), me.identity):
        with pytest.raises(Unauthorized):
            scene.house.identify(token)


async def test_tokens_of_the_house_work_as_before(scene: Scene) -> None:
    made = await scene.host("issue_credential", name="bob")
    await scene.house.sign_in(made.token)
    assert scene.house.identify(made.token).oauth == ""
    assert not scene.provider.asked


async def test_a_house_without_a_provider_accepts_no_access_token() -> None:
    async with open_house() as house:
        token = Provider().token(HOUSE)
        await house.sign_in(token)
        with pytest.raises(Unauthorized, match="invalid token"):
            house.identify(token)


async def test_many_newcomers_in_a_minute_have_to_wait_and_others_do_not(scene: Scene) -> None:
    known = await scene.sign_in()
    for number in range(NEWCOMERS - 1):
        await scene.sign_in(sub=f"new-{number}")
    with pytest.raises(Busy, match="too many people"):
        await scene.sign_in(sub="one too many")
    assert (await scene.sign_in()).identity == known.identity


async def test_an_identity_may_use_only_so_many_access_tokens_at_a_time(scene: Scene) -> None:
    for _ in range(MAX_EACH):
        await scene.sign_in()
    with pytest.raises(Busy, match="access tokens at a time"):
        await scene.sign_in()
    await clock_of(scene).advance(3_600_000)
    await scene.sign_in()


async def test_the_audience_can_be_set(provider: Provider) -> None:
    async with scene_of(provider, oauth_audience="cohabit") as scene:
        await scene.sign_in(scene.token("cohabit"))
        with pytest.raises(Unauthorized, match="another audience"):
            await scene.sign_in(scene.token(HOUSE))


# -- what is required -------------------------------------------------------------------------------
async def test_a_token_without_a_required_scope_is_refused(provider: Provider) -> None:
    async with scene_of(provider, oauth_scopes="play, chat") as scene:
        await scene.sign_in(scope="openid chat play")
        await scene.sign_in(scope=None, scp=["chat", "play"])
        for scope in ("chat", None, "playchat"):
            with pytest.raises(InsufficientScope, match="scope"):
                await scene.sign_in(scope=scope)


async def test_an_account_without_a_required_claim_is_refused_and_not_stored(provider: Provider) -> None:
    async with scene_of(provider, oauth_require="groups=players; groups=staff") as scene:
        with pytest.raises(PermissionDenied, match="may not use this house"):
            await scene.sign_in(groups=["others"])
        assert not scene.house.identities.all_credentials()[1:]
        await scene.sign_in(groups=["staff"])


# -- expiry and revocation --------------------------------------------------------------------------
async def test_an_access_token_ends_when_it_expires(scene: Scene) -> None:
    token = scene.token()
    credential = await scene.sign_in(token)
    ended: list[str] = []
    scene.house.identities.until_invalid(scene.house.clock, credential, lambda: ended.append("stream"))
    scene.house.identities.until_invalid(scene.house.clock, credential, lambda: ended.append("session"), renewable=True)
    await clock_of(scene).advance(400_000)
    assert ended == ["stream"]
    with pytest.raises(Unauthorized, match="expired"):
        await scene.sign_in(token)


async def test_a_revoked_account_ends_its_access_tokens_at_once_and_refuses_new_ones(scene: Scene) -> None:
    token = scene.token()
    old, new = await scene.sign_in(), await scene.sign_in(token)
    ended: list[str] = []
    for each in (old, new):
        scene.house.identities.until_invalid(scene.house.clock, each, lambda: ended.append("ended"))
    revoked = await scene.host("revoke_credential", name="ada")
    assert (revoked.revoked, ended) == (1, ["ended", "ended"])
    with pytest.raises(Unauthorized, match="revoked"):
        await scene.sign_in(token)
    with pytest.raises(PermissionDenied, match="a host of this house has revoked your access"):
        await scene.sign_in()
    with pytest.raises(Unauthorized, match="revoked"):
        await scene.house.call(old, None, "rooms", {})


async def test_a_revocation_ends_what_an_expired_token_has_left_open(scene: Scene) -> None:
    first, ended = await scene.sign_in(), list[str]()
    scene.house.identities.until_invalid(scene.house.clock, first, lambda: ended.append("session"), renewable=True)
    await clock_of(scene).advance(400_000)
    await scene.sign_in(sub="bob-2", preferred_username="bob")  # forgets the expired token
    assert ended == []
    await scene.host("revoke_credential", name="ada")
    assert ended == ["session"]


async def test_a_revocation_survives_a_restart_and_a_host_can_lift_it(provider: Provider, tmp_path: Path) -> None:
    async with scene_of(provider, tmp_path) as scene:
        await scene.sign_in()
        await scene.host("revoke_credential", name="ada")
    async with scene_of(provider, tmp_path) as scene:
        with pytest.raises(PermissionDenied, match="revoked your access"):
            await scene.sign_in()
        allowed = await scene.host("allow_sign_in", name="ada")
        assert (await scene.sign_in()).identity == allowed.identity
        with pytest.raises(Conflict, match="may sign in already"):
            await scene.host("allow_sign_in", name="ada")


async def test_a_token_from_before_a_revocation_stays_refused_when_that_is_lifted(scene: Scene) -> None:
    unseen, seen = scene.token(), scene.token()
    await scene.sign_in(seen)
    await clock_of(scene).advance(2_000)
    await scene.host("revoke_credential", name="ada")
    await scene.host("allow_sign_in", name="ada")
    for token in (unseen, seen):
        with pytest.raises(Unauthorized, match="revoked"):
            await scene.sign_in(token)
    await scene.sign_in()


async def test_only_hosts_of_the_house_lift_a_revocation_and_only_of_those_who_signed_in(scene: Scene) -> None:
    me = await scene.sign_in()
    with pytest.raises(PermissionDenied):
        await scene.house.call(me, None, "allow_sign_in", {"name": "ada"})
    with pytest.raises(UnknownAsset, match="nobody called 'adda'"):
        await scene.host("allow_sign_in", name="adda")
    await scene.sign_in(sub="other")
    with pytest.raises(Conflict, match="2 identities have the name 'ada'"):
        await scene.host("allow_sign_in", name="ada")


async def test_an_access_token_cannot_be_replaced_by_a_token_of_the_house(scene: Scene) -> None:
    me = await scene.sign_in()
    with pytest.raises(BadArgs, match="you sign in with OAuth"):
        await scene.house.call(me, None, "rotate_token", {})
    with pytest.raises(BadArgs, match="has no token to replace"):
        await scene.host("rotate_credential", name="ada")


# -- limits -----------------------------------------------------------------------------------------
async def test_the_rate_of_calls_is_counted_over_all_access_tokens_of_an_identity(provider: Provider) -> None:
    async with scene_of(provider, calls_per_second=10) as scene:
        tokens = [await scene.sign_in() for _ in range(20)]
        with pytest.raises(Busy):
            for token in tokens:
                await scene.house.call(token, None, "rooms", {})
        other = await scene.sign_in(sub="bob-2")
        await scene.house.call(other, None, "rooms", {})


# -- rooms ------------------------------------------------------------------------------------------
async def test_a_room_that_is_not_open_is_not_there_for_somebody_who_signs_in(scene: Scene) -> None:
    await make_room(scene.house)
    with pytest.raises(UnknownRoom):
        await scene.house.call(await scene.sign_in(), "den", "join", {})


async def test_claims_give_a_role_in_a_room(provider: Provider) -> None:
    rules = "groups=staff -> host in *; groups=players -> observer in den"
    async with scene_of(provider, oauth_roles=rules) as scene:
        await make_room(scene.house)
        await make_room(scene.house, room="attic")
        staff, one = await scene.sign_in(sub="s", groups=["staff"]), await scene.sign_in(groups=["players"])
        joined = await scene.house.call(one, "den", "join", {})
        assert (joined.status, joined.role, joined.token) == ("joined", "observer", None)
        with pytest.raises(UnknownRoom):
            await scene.house.call(one, "attic", "join", {})
        assert (await scene.house.call(staff, "attic", "join", {})).role == "host"


async def test_the_lobby_of_a_room_applies_to_claims_too(provider: Provider) -> None:
    async with scene_of(provider, oauth_roles="groups=players -> observer in den") as scene:
        members = await make_room(scene.house)
        await members["hostess"]("set_entry", {"lobby": True})
        me, without = await scene.sign_in(groups=["players"]), await scene.sign_in()
        assert (await scene.house.call(me, "den", "join", {})).status == "waiting"
        await members["hostess"]("set_entry", {"lobby": False})
        with pytest.raises(UnknownRoom):  # the claim is gone
            await scene.house.call(without, "den", "join", {})
        assert (await scene.house.call(me, "den", "join", {})).role == "observer"


async def test_a_blocked_identity_does_not_come_back_by_its_claims(provider: Provider) -> None:
    async with scene_of(provider, oauth_roles="groups=players -> observer in den") as scene:
        members = await make_room(scene.house)
        await scene.house.call(await scene.sign_in(groups=["players"]), "den", "join", {})
        await members["hostess"]("remove_member", {"member": "ada", "block": True})
        with pytest.raises(PermissionDenied, match="blocked"):
            await scene.house.call(await scene.sign_in(groups=["players"]), "den", "join", {})


async def test_somebody_whose_data_was_deleted_signs_in_again_a_little_later(
    provider: Provider, tmp_path: Path
) -> None:
    async with scene_of(provider, tmp_path) as scene:
        me = await scene.sign_in()
        await scene.house.call(me, None, "forget_me", {"confirm": "ada"})
        with pytest.raises(Conflict, match="sign in again in a minute"):
            await scene.sign_in()
        clock = scene.house.clock
        assert isinstance(clock, FakeClock)
        await clock.advance(SOON_MS)
        async with asyncio.timeout(60):
            while scene.house.identities.get(me.identity) is not None:
                await asyncio.sleep(0.001)
        again = await scene.sign_in()
        assert again.identity == me.identity
        assert scene.house.identities.has_account(me.identity), "it was recorded, in the record that was written again"
    members = stored_room(tmp_path, HOUSE_RECORD).state.members.values()
    assert [member.identity for member in members].count(me.identity) == 1


async def test_access_tokens_are_compared_with_the_time_of_day_although_the_clock_of_the_house_is_behind_it(
    provider: Provider,
) -> None:
    async with scene_of(provider) as scene:
        clock, suspended_ms = scene.house.clock, 3_600_000
        assert isinstance(clock, FakeClock)
        clock.behind_ms = suspended_ms
        provider.now = lambda: clock.time_of_day() / 1000
        with pytest.raises(Unauthorized, match="has expired"):
            await scene.sign_in(exp=clock.now() / 1000 + 60)
        me = await scene.sign_in(exp=clock.time_of_day() / 1000 + 60)
        assert me.expires_at is not None
        assert clock.now() < me.expires_at <= clock.now() + 60_000 + SKEW_S * 1000, "by the clock of the house"


async def test_deleting_its_data_lifts_no_limit_of_an_identity(provider: Provider, tmp_path: Path) -> None:
    rules = "groups=players -> observer in den"
    async with scene_of(provider, tmp_path, oauth_roles=rules) as scene:
        members = await make_room(scene.house)
        me = await scene.sign_in(groups=["players"])
        await scene.house.call(me, "den", "join", {})
        await members["hostess"]("remove_member", {"member": "ada", "block": True})
        await scene.house.call(me, None, "forget_me", {"confirm": "ada"})
        with pytest.raises(Conflict, match="your data is being deleted"):
            await scene.sign_in(groups=["players"])
    async with scene_of(provider, tmp_path, oauth_roles=rules) as scene:
        await scene.house.forgetting.clean_waiting()  # which the house does in the background after its start
        again = await scene.sign_in(groups=["players"])
        assert again.identity == me.identity
        with pytest.raises(PermissionDenied, match="this account was limited in this room"):
            await scene.house.call(again, "den", "join", {})
