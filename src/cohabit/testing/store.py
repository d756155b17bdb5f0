"""``check_store``: check that a store meets the contract of ``cohabit.house.store.contract``.

    def test_my_store_keeps_the_contract(tmp_path):
        check_store(lambda: MyStore(...))        # a new, empty store each time it is called

Each claim is a small independent function and gets a new store. Behaviour at a power failure cannot be checked
from here: the author of a store has to test it.
"""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

from cohabit.errors import BadArgs, CohabitError, StorageFailed
from cohabit.house.store.contract import NO_ROOM, Holder, Row, Store, Write
from cohabit.model.identity import Credential, Identity, Invite
from cohabit.model.record import Entry
from cohabit.model.refusals import REFUSALS_KEPT, Refusal
from cohabit.room.record import Line, Record

Claim = Callable[[Store], None]
SHARED_COMMITS = 60
"""The number of commits that are made while other threads read."""
READERS = 3
LONG_MS = 600_000
"""The time of a lease that must not end while a claim is checked."""


def check_store(make: Callable[[], Store], *, open_backup: Callable[[str], Store] | None = None) -> None:
    """Check each claim on a new store. Raises AssertionError with all claims that failed.

    With ``open_backup``, which opens the file that ``backup`` wrote, the contents of a backup are checked too.
    """
    claims: list[Claim] = [*CLAIMS, _backup_claim(open_backup)]
    failed = [f"- {_sentence(claim)}: {why}" for claim in claims if (why := _why_not(claim, make))]
    if failed:
        raise AssertionError("\n".join([f"{len(failed)} of {len(claims)} claims failed", *failed]))


def _why_not(claim: Claim, make: Callable[[], Store]) -> str:
    """Why a claim does not hold for a new store. Empty if it holds."""
    store = make()
    try:
        claim(store)
    except AssertionError as broken:
        return str(broken)
    except CohabitError as wrong:
        return wrong.as_text()
    except Exception as wrong:
        return f"{type(wrong).__name__}: {wrong}"
    finally:
        store.close()
    return ""


def _sentence(claim: Claim) -> str:
    name: str = getattr(claim, "__name__", "a claim")
    return name.replace("_", " ")


# -- values for the claims -------------------------------------------------------------------------
def _lines(count: int, start: int = 0) -> list[Line]:
    """Entries numbered from ``start``."""
    record = Record(start - 1)
    return [record.append(Entry(start + i, i, "noted", "m1", {"n": i})) for i in range(count)]


def _rows(lines: Iterable[Line]) -> list[Row]:
    return [(line.seq, line.body, line.digest) for line in lines]


def _numbers(store: Store, room: str, after: int = -1, limit: int | None = None) -> list[int]:
    return [row[0] for row in store.lines(room, after, limit)]


def _refusals(numbers: Iterable[int], reason: str = "no permission") -> list[Refusal]:
    return [Refusal(1000 + i, "m1", "act", "PERMISSION_DENIED", reason, 1, i) for i in numbers]


def _invite(name: str, room: str) -> Invite:
    return Invite(name, name.encode() * 8, room, "m1", name)


def _full_room(room: str) -> Write:
    """A write that uses every field."""
    return Write(
        room, _lines(10), (9, room.encode()), _refusals([1, 2]),
        identities=[Identity(f"i-{room}", "Ann", "human")],
        credentials=[Credential(f"here-{room}".encode(), f"i-{room}", room), Credential(f"any-{room}".encode(), "i")],
        invites=[_invite(f"v-{room}", room)],
        egress=[(f"{room} 1", b"a"), (f"{room} 2", room.encode())], saves=[("evening", room.encode())],
    )  # fmt: skip


def _everything(store: Store, rooms: Sequence[str]) -> list[object]:
    """Everything that can be read, except leases and other rooms."""
    of_no_room: list[object] = [store.rooms(), store.identities(), store.credentials(), store.invites()]
    return of_no_room + [part for room in rooms for part in _of_room(store, room)]


def _of_room(store: Store, room: str) -> list[object]:
    return [
        list(store.lines(room, -1)),
        store.head(room),
        store.snapshots(room),
        store.refusals(room),
        store.egress(room),
        [(name, store.save(room, name)) for name in store.saves(room)],
    ]


def _expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        raise AssertionError(f"{what}: {_short(found)}, not {_short(wanted)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _expect_failure(store: Store, writes: Sequence[Write], why: str) -> None:
    try:
        store.commit(writes)
    except StorageFailed:
        return
    raise AssertionError(f"a commit with {why} was accepted, without STORAGE_FAILED")


# -- entries --------------------------------------------------------------------------------------
def an_empty_store_has_nothing(store: Store) -> None:
    _expect(_everything(store, ["den"]), [[], [], [], [], [], -1, [], [], [], []], "an empty store")


def entries_are_kept_to_the_byte(store: Store) -> None:
    odd = [Line(0, bytes(range(256)), bytes(32), Entry(0, 0, "x")), Line(1, b"", b"\xff", Entry(1, 0, "x"))]
    store.commit([Write("den", odd)])
    _expect(list(store.lines("den", -1)), _rows(odd), "entries with bytes of every kind")


def entries_come_in_order_after_a_number_and_up_to_a_limit(store: Store) -> None:
    lines = _lines(2500)
    store.commit([Write("den", lines[:7])])
    store.commit([Write("den", lines[7:1500]), Write("other", _lines(3)), Write("den", lines[1500:])])
    _expect(list(store.lines("den", -1)) == _rows(lines), True, "all 2,500 entries, in order")
    _expect(_numbers(store, "den", 2497), [2498, 2499], "entries after 2,497")
    _expect(_numbers(store, "den", 2499), [], "entries after the last")
    _expect(_numbers(store, "den", 9, 3), [10, 11, 12], "three entries after 9")
    _expect(_numbers(store, "den", 9, 1500), list(range(10, 1510)), "1,500 entries after 9")
    _expect(_numbers(store, "den", -1, 0), [], "no entries, with a limit of 0")
    _expect(_numbers(store, "other", -1, 100), [0, 1, 2], "entries of a room with fewer than the limit")


def the_head_is_the_last_entry(store: Store) -> None:
    store.commit([Write("den", _lines(5)), Write("other", _lines(2))])
    _expect(store.head("den"), 4, "the head after five entries")
    store.commit([Write("den", _lines(3, start=5))])
    _expect((store.head("den"), store.head("other")), (7, 1), "the heads of two rooms")


def the_size_of_a_room_is_that_of_its_entries(store: Store) -> None:
    lines = _lines(5)
    store.commit([Write("den", lines), Write("other", _lines(2))])
    _expect(store.size("den"), sum(len(line.body) for line in lines), "the size of five entries")
    _expect(store.size("nowhere"), 0, "the size of a room without entries")


def rooms_with_similar_ids_stay_separate(store: Store) -> None:
    names = ["den", "Den", "den2", "d%n", "d_n", "den ", "höhle", "' or 1=1 --"]
    store.commit([Write(name, _lines(1 + i), (i, name.encode())) for i, name in enumerate(names)])
    for i, name in enumerate(names):
        _expect((store.head(name), store.snapshots(name)), (i, [name.encode()]), f"room {name!r}")
    store.commit([Write("d%n", delete=True)])
    _expect(store.rooms(), sorted(set(names) - {"d%n"}), "the rooms after one was deleted")


def rooms_are_those_with_an_entry_or_a_snapshot_sorted(store: Store) -> None:
    store.commit([Write(name, _lines(2), (1, b"s")) for name in ("oak", "elm", "ash", "yew")])
    store.commit([Write("fir", _lines(2)), Write("bay", snapshot=(0, b"s"))])
    store.commit([Write("nut", refusals=_refusals([1]), egress=[("nut 1", b"a")])])
    _expect(store.rooms(), ["ash", "bay", "elm", "fir", "oak", "yew"], "the rooms")


# -- all or nothing -------------------------------------------------------------------------------
def a_commit_with_a_number_that_is_taken_leaves_nothing(store: Store) -> None:
    old = Write("old", _lines(20), (4, b"old"), _refusals([1]), credentials=[Credential(b"k", "i-old", "old")])
    store.commit([old])
    before = _everything(store, ["old", "new"])
    taken = Write("old", _lines(1, start=19))
    _expect_failure(store, [_full_room("new"), taken], "an entry number that is taken")
    _expect_failure(store, [Write("old", forget_before=3), taken], "an entry number that is taken")
    _expect_failure(store, [Write("old", (), (12, b"n"), _refusals([1, 2], "new")), taken], "a number that is taken")
    _expect_failure(store, [Write("new", _lines(3)), taken], "an entry number that is taken")
    _expect_failure(store, [Write("old", _lines(1500, start=20)), taken], "an entry number that is taken")
    changed = Write("x", credentials=[Credential(b"k", "i-old", "old", revoked=True)])
    _expect_failure(store, [changed, taken], "an entry number that is taken")
    _expect(_everything(store, ["old", "new"]), before, "the store after commits that failed")
    store.commit([_full_room("new"), Write("old", _lines(1, start=20))])
    _expect((store.head("new"), store.head("old")), (9, 20), "the heads after a commit that succeeded again")


def a_failed_commit_deletes_nothing(store: Store) -> None:
    store.commit([_full_room("den"), _full_room("other")])
    before = _everything(store, ["den", "other"])
    _expect_failure(store, [Write("other", delete=True), Write("den", _lines(1))], "an entry number that is taken")
    _expect(_everything(store, ["den", "other"]), before, "the store after a failed commit with a deletion")


def a_number_given_twice_in_one_commit_is_refused(store: Store) -> None:
    _expect_failure(store, [Write("den", [*_lines(3), *_lines(1, start=2)])], "the same number twice in one write")
    _expect_failure(store, [Write("den", _lines(3)), Write("den", _lines(3))], "the same number in two writes")
    _expect(store.head("den"), -1, "the head after commits that failed")


# -- snapshots and pruning ------------------------------------------------------------------------
def the_two_newest_snapshots_are_kept_newest_first(store: Store) -> None:
    store.commit([Write("den", _lines(10), (2, b"at 2")), Write("other", _lines(1), (0, b"other"))])
    store.commit([Write("den", (), (5, b"at 5"))])
    _expect(store.snapshots("den"), [b"at 5", b"at 2"], "two snapshots")
    store.commit([Write("den", (), (9, b"at 9"))])
    _expect(store.snapshots("den"), [b"at 9", b"at 5"], "the snapshots after a third")
    store.commit([Write("den", (), (9, b"at 9 again"))])
    _expect(store.snapshots("den"), [b"at 9 again", b"at 5"], "the snapshots after one at the same number")
    _expect(store.snapshots("other"), [b"other"], "the snapshots of another room")


def forgetting_never_passes_the_oldest_kept_snapshot(store: Store) -> None:
    store.commit([Write("nowhere", forget_before=100), Write("other", _lines(10), (9, b"s"))])
    store.commit([Write("den", _lines(10), forget_before=100)])
    _expect(_numbers(store, "den"), list(range(10)), "the entries of a room without a snapshot")
    store.commit([Write("den", (), (4, b"s"), forget_before=2)])
    _expect(_numbers(store, "den"), list(range(2, 10)), "the entries after forgetting those before 2")
    store.commit([Write("den", (), (8, b"s"), forget_before=100)])
    _expect(_numbers(store, "den"), [5, 6, 7, 8, 9], "the entries, with snapshots at 4 and 8")
    store.commit([Write("den", _lines(1, start=10), (10, b"s"), forget_before=100)])
    _expect(_numbers(store, "den"), [9, 10], "the entries, with snapshots at 8 and 10")
    _expect(_numbers(store, "other"), list(range(10)), "the entries of another room")


# -- refusals -------------------------------------------------------------------------------------
def refusals_are_kept_oldest_first_and_replaced_by_id(store: Store) -> None:
    store.commit([Write("den", refusals=_refusals([2, 1])), Write("other", refusals=_refusals([1], "other"))])
    store.commit([Write("den", refusals=[*_refusals([3]), *_refusals([1], "counted again")])])
    wanted = [*_refusals([1], "counted again"), *_refusals([2, 3])]
    _expect(store.refusals("den"), wanted, "the refusals")
    _expect(store.refusals("other"), _refusals([1], "other"), "the refusals of another room")


def only_the_newest_refusals_are_kept(store: Store) -> None:
    last = REFUSALS_KEPT + 150
    for start in range(1, last + 1, 100):
        store.commit([Write("den", refusals=_refusals(range(start, min(start + 100, last + 1))))])
    found = [refusal.id for refusal in store.refusals("den")]
    _expect(found, list(range(last - REFUSALS_KEPT + 1, last + 1)), "the refusals that are kept")
    store.commit([Write("den", refusals=_refusals([3], "an old one, counted again"))])
    _expect([refusal.id for refusal in store.refusals("den")], found, "the refusals after an old one was written")


# -- identities, credentials, invites -------------------------------------------------------------
def identities_credentials_and_invites_are_kept_and_replaced(store: Store) -> None:
    ann, bob = Identity("i1", "Ann", "human", host=True), Identity("i2", "Ann", owner="i1")
    key, other = Credential(b"\x00\xff", "i1", "den", "phone", 5, 99), Credential(b"\x01", "i2")
    invite = Invite("v1", b"\x02", "den", "m1", "cat", "Cat", "human", "player", "auto:1", "red", "bot", 7, 99, 3)
    last = _invite("v2", "den")
    store.commit([Write(identities=[bob, ann]), Write(credentials=[other, key]), Write("den", invites=[last, invite])])
    _expect(store.identities(), [ann, bob], "the identities, sorted by id")
    _expect(store.credentials(), [key, other], "the credentials, sorted by hash")
    _expect(store.invites(), [invite, last], "the invites, sorted by id")
    ann, key = Identity("i1", "Anna"), Credential(b"\x00\xff", "i1", None, revoked=True, ended="left")
    invite = Invite("v1", b"\x02", "den", "m1", "cat", uses=0, revoked=True)
    store.commit([Write("den", identities=[ann], credentials=[key], invites=[invite])])
    _expect(store.identities(), [ann, bob], "the identities after one was replaced")
    _expect(store.credentials(), [key, other], "the credentials after one was replaced")
    _expect(store.invites(), [invite, last], "the invites after one was replaced")


def counts_of_egress_are_kept_by_room_and_key_and_replaced(store: Store) -> None:
    store.commit([Write("den", egress=[("b", b"2"), ("a", b"1")]), Write("other", egress=[("a", b"other")])])
    store.commit([Write("den", egress=[("b", b"3")])])
    _expect(store.egress("den"), [b"1", b"3"], "the counts of a room, sorted by key")
    _expect([store.egress("other"), store.egress("none")], [[b"other"], []], "the counts of other rooms")


def saves_are_kept_by_room_and_name_and_replaced(store: Store) -> None:
    odd = bytes(range(256)) * 400
    store.commit(
        [Write("den", saves=[("noon/1", b"first"), ("Dawn", odd)]), Write("other", saves=[("Dawn", b"theirs")])]
    )
    store.commit([Write("den", _lines(1), (0, b"s"), saves=[("noon/1", b"second")], rewrite=True)])
    _expect(store.saves("den"), ["Dawn", "noon/1"], "the names of the saves of a room, sorted")
    found = [store.save("den", "noon/1"), store.save("den", "Dawn"), store.save("other", "Dawn")]
    _expect(found, [b"second", odd, b"theirs"], "the saves")
    _expect([store.save("den", "dawn"), store.save("none", "Dawn")], [None, None], "saves that there are not")


def profiles_are_kept_by_identity_and_replaced(store: Store) -> None:
    store.commit([Write(profiles=[("i-ann", b"first"), ("i-bob", b"")]), Write("den", profiles=[("i-cy", b"third")])])
    _expect(store.profile("i-ann"), b"first", "a profile")
    _expect(store.profile("i-bob"), b"", "an empty profile")
    _expect(store.profile("i-dan"), None, "the profile of an unknown identity")
    store.commit([Write(profiles=[("i-ann", b"second")])])
    _expect([store.profile("i-ann"), store.profile("i-cy")], [b"second", b"third"], "the profiles after a change")
    store.commit([Write("den", delete=True)])
    _expect(store.profile("i-cy"), b"third", "a profile after a room was deleted")


def stored_values_do_not_change_with_their_objects(store: Store) -> None:
    credential, (refusal,) = Credential(b"k", "i1"), _refusals([1])
    store.commit([Write("den", refusals=[refusal], credentials=[credential])])
    credential.revoked, refusal.count = True, 7
    _expect(store.credentials(), [Credential(b"k", "i1")], "a credential that changed after its commit")
    _expect(store.refusals("den"), _refusals([1]), "a refusal that changed after its commit")
    store.credentials()[0].revoked = True
    store.refusals("den")[0].count = 7
    _expect(store.credentials(), [Credential(b"k", "i1")], "a credential that changed after it was read")
    _expect(store.refusals("den"), _refusals([1]), "a refusal that changed after it was read")


# -- deletion -------------------------------------------------------------------------------------
def a_deletion_forgets_everything_of_that_room_and_nothing_else(store: Store) -> None:
    store.commit([_full_room("other")])
    other = _of_room(store, "other")
    store.commit([_full_room("den")])
    store.lease(["den", "other"], "house 1", LONG_MS)
    store.commit([Write("den", delete=True)])
    _expect(_of_room(store, "den"), [[], -1, [], [], [], []], "the rest of a room that was deleted")
    _expect(_of_room(store, "other"), other, "another room")
    _expect(store.rooms(), ["other"], "the rooms")
    _expect([invite.id for invite in store.invites()], ["v-other"], "the invites")
    # The identity and the credential for every room remain.
    _expect([identity.id for identity in store.identities()], ["i-den", "i-other"], "the identities")
    left = [credential.hash for credential in store.credentials()]
    _expect(left, [b"any-den", b"any-other", b"here-other"], "the credentials")
    _expect(_got(store, "house 2", "den", "other"), ["den"], "the leases that another house gets after a deletion")


def a_room_is_deleted_together_with_the_identities_that_exist_only_for_it(store: Store) -> None:
    mine = Write(profiles=[("i-den", b"mine")], credentials=[Credential(b"mine", "i-den")])
    store.commit([_full_room("den"), _full_room("other"), mine])
    store.commit([Write("den", delete=True, forget=["i-den"])])
    _expect((store.rooms(), _of_room(store, "den")), (["other"], [[], -1, [], [], [], []]), "the rest of the room")
    _expect([identity.id for identity in store.identities()], ["i-other"], "the identities")
    left = [credential.hash for credential in store.credentials()]
    _expect(
        (left, store.profile("i-den")),
        ([b"any-den", b"any-other", b"here-other"], None),
        "the credentials and the profile",
    )


def a_deleted_room_can_be_made_again(store: Store) -> None:
    store.commit([_full_room("den")])
    store.commit([Write("den", delete=True), Write("den", _lines(2), (1, b"second"), _refusals([1], "second"))])
    found = (store.head("den"), store.snapshots("den"), store.refusals("den"))
    _expect(found, (1, [b"second"], _refusals([1], "second")), "a room that was made again in the same commit")
    _expect(store.invites(), [], "the invites of the first room of that id")
    store.commit([Write("den", _lines(3, start=2)), Write("den", delete=True)])
    _expect((store.head("den"), store.rooms()), (-1, []), "a room that was deleted after an entry in the same commit")


def a_rewritten_room_has_only_the_new_record_and_keeps_its_invites(store: Store) -> None:
    store.commit([_full_room("den"), _full_room("other")])
    other = _of_room(store, "other")
    before = Write("den", _lines(1, start=10), (10, b"late"))
    after = Write("den", _lines(1, start=3))
    store.commit([before, Write("den", _lines(3), (2, b"new"), _refusals([4], "new"), rewrite=True), after])
    _expect(_numbers(store, "den"), [0, 1, 2, 3], "the entries of a room that was written again")
    _expect((store.snapshots("den"), store.refusals("den")), ([b"new"], _refusals([4], "new")), "the rest of it")
    _expect(_of_room(store, "other"), other, "another room")
    _expect([invite.id for invite in store.invites()], ["v-den", "v-other"], "the invites")
    _expect(store.egress("den"), [b"a", b"den"], "what left a room that was written again")


def a_forgotten_identity_is_gone_with_its_credentials_its_profile_and_what_was_sent_to_it(store: Store) -> None:
    store.commit([_full_room("den"), _full_room("other"), Write(profiles=[("i-den", b"mine"), ("i-other", b"theirs")])])
    store.commit([Write(credentials=[Credential(b"any-other", "i", label="for i-den")])])
    store.commit(
        [Write("den", egress=[("i-den\nx", b"1"), ("i-den2\nx", b"2")]), Write("other", egress=[("i-den\n", b"3")])]
    )
    store.commit([Write("den", forget=["i-den"], forget_refusals=[1], forget_egress=["i-den"])])
    store.scrub()
    _expect([identity.id for identity in store.identities()], ["i-other"], "the identities")
    left = [credential.hash for credential in store.credentials()]
    _expect(left, [b"any-den", b"any-other", b"here-other"], "the credentials")
    _expect([store.profile("i-den"), store.profile("i-other")], [None, b"theirs"], "the profiles")
    _expect([store.egress("den"), store.egress("other")], [[b"a", b"den", b"2"], [b"a", b"other"]], "what was sent")
    _expect([refusal.id for refusal in store.refusals("den")], [2], "the refusals")
    _expect([refusal.id for refusal in store.refusals("other")], [1, 2], "the refusals of another room")
    store.commit([Write(forget=["i-other"], identities=[Identity("i-other", "", forgotten=())])])
    _expect(store.identities(), [Identity("i-other", "", forgotten=())], "what replaces an identity that is forgotten")


def the_rooms_that_name_an_identity_are_known_until_they_are_deleted_or_written_again(store: Store) -> None:
    who, other = f"i-{7:016x}", "i-key-" + "aB-_3" * 8 + "abc"
    named = [Record().append(Entry(0, 0, "noted", None, {"who": who, "others": [other]}))]
    store.commit([Write(room, named, (0, b"s")) for room in ("attic", "cellar", "den")])
    store.commit([Write("porch", _lines(3), (2, who.encode()))])
    _expect(store.rooms_naming(who), ["attic", "cellar", "den"], "the rooms that name an identity")
    store.commit([Write("cellar", delete=True), Write("attic", _lines(2), (1, b"s"), rewrite=True)])
    _expect((store.rooms_naming(who), store.rooms_naming(other)), (["den"], ["den"]), "the rooms that still name it")
    _expect(store.rooms_naming("i-"), [], "the rooms that name nobody")
    store.commit([Write("den", _lines(2, start=1), (1, b"s"))])
    store.commit([Write("den", (), (2, b"s"), forget_before=2)])
    _expect((_numbers(store, "den"), store.rooms_naming(who)), ([2], ["den"]), "a room whose old entries named it")


# -- leases ---------------------------------------------------------------------------------------
def _got(store: Store, house: str, *rooms: str, ms: int = LONG_MS) -> list[str]:
    """The rooms that a house gets."""
    return sorted(store.lease(rooms, house, ms).keys() - {NO_ROOM})


def a_lease_keeps_other_houses_out_until_it_ends(store: Store) -> None:
    _expect(_got(store, "house 1", "den"), ["den"], "a lease of a free room")
    _expect(_got(store, "house 2", "den", "other"), ["other"], "the leases of another house before the first ends")
    _expect(_got(store, "house 1", "den", ms=0), ["den"], "the holder lets its lease end now")
    _expect(_got(store, "house 2", "den"), ["den"], "a lease that has ended")
    _expect(_got(store, "house 1", "den"), [], "the former house gets the lease back")
    _expect(_got(store, "house 2", "den", "other"), ["den", "other"], "the leases of the house that has both")


def all_leases_of_a_house_are_renewed_together_and_keep_their_epochs(store: Store) -> None:
    first = store.lease(["den", "attic"], "house 1", LONG_MS)
    _expect(sorted(first), [NO_ROOM, "attic", "den"], "two leases, and the house")
    store.lease([], "house 1", 0, first[NO_ROOM])
    renewed = store.lease(["den"], "house 1", LONG_MS, first[NO_ROOM])
    wanted = {NO_ROOM: first[NO_ROOM], "den": first["den"]}
    _expect(renewed, wanted, "a lease that has ended, that nobody else took, and that was renewed")
    _expect(_got(store, "house 2", "den", "attic"), [], "the leases of another house after one of both was renewed")


def a_lease_is_released_by_its_holder_alone(store: Store) -> None:
    before = store.lease(["den", "attic"], "house 1", LONG_MS)
    store.release(["den"], "house 2")
    _expect(_got(store, "house 2", "den"), [], "a house gets a lease by releasing that of another")
    store.release(["den"], "house 1")
    store.release(["den", "nowhere"], "house 1")
    _expect(_got(store, "house 2", "den", "attic"), ["den"], "a lease that was released, and one that was not")
    store.release(["den"], "house 2")
    again = store.lease(["den"], "house 1", LONG_MS)
    _expect(again["den"] > before["den"], True, "the epoch of a room is higher after another house had it")


def one_of_many_houses_gets_the_lease(store: Store) -> None:
    houses = [f"house {i}" for i in range(8)]
    for room in (f"r{i}" for i in range(10)):
        with ThreadPoolExecutor(len(houses)) as pool:
            got = list(pool.map(store.lease, repeat([room]), houses, repeat(LONG_MS)))
        _expect(sum(room in each for each in got), 1, f"houses that got the lease of room {room}")


def a_house_from_which_another_took_a_room_is_out_until_it_begins_again(store: Store) -> None:
    first = store.lease(["den", "other"], "house 1", LONG_MS)
    store.lease([], "house 1", 0, first[NO_ROOM])
    _expect(_got(store, "house 2", "den"), ["den"], "a lease that has ended")
    _expect(store.lease(["other"], "house 1", LONG_MS, first[NO_ROOM]), {}, "the leases of the house that is out")
    of_no_room = Write(identities=[Identity("i-new", "N")], holder=("house 1", first[NO_ROOM]))
    _expect_failure(store, [of_no_room], "the epoch of a house that is out, and no room")
    again = store.lease(["den", "other"], "house 1", LONG_MS)
    _expect(sorted(again), [NO_ROOM, "other"], "the leases of the house after it began again")
    _expect(again[NO_ROOM] > first[NO_ROOM] and again["other"] > first["other"], True, "its epochs are higher")
    _expect_failure(store, [of_no_room], "the epoch that a house had before it was out, and no room")
    _expect_failure(store, [Write("other", _lines(1), holder=("house 1", first["other"]))], "the epoch from before")
    _expect(store.identities(), [], "the identities")
    store.commit([Write(identities=[Identity("i-new", "N")], holder=("house 1", again[NO_ROOM]))])
    _expect(len(store.identities()), 1, "the identities after a write of the house that began again")


def a_house_whose_lease_has_ended_writes_nothing(store: Store) -> None:
    """As if it had been paused, with the next writes ready."""
    epoch = store.lease(["den", "other"], "house 1", LONG_MS)
    mine = {room: ("house 1", epoch[room]) for room in ("den", "other")}
    store.commit([_held_by(_full_room("den"), mine["den"]), _held_by(_full_room("other"), mine["other"])])
    before = _everything(store, ["den", "other"])
    late = [
        Write("den", _lines(1, start=10)),
        Write("den", (), (10, b"late")),
        Write("den", refusals=_refusals([7])),
        Write("den", forget_before=5),
        Write("den", egress=[("late", b"x")]),
        Write("den", saves=[("late", b"x")]),
        Write("den", credentials=[Credential(b"late", "i")]),
        Write("den", _lines(1), (0, b"late"), rewrite=True),
        Write("den", delete=True),
    ]

    def nothing_is_written(holder: Holder, why: str) -> None:
        for write in late:
            _expect_failure(store, [_held_by(write, holder)], why)
            _expect_failure(store, [Write(identities=[Identity("i-new", "N")]), write], why)
        _expect(_everything(store, ["den", "other"]), before, f"the store after writes with {why}")

    nothing_is_written(("house 2", epoch["den"]), "a holder that never had the room")
    nothing_is_written(("house 1", epoch["den"] + 1), "an epoch that never was")
    of_no_room = _held_by(Write(credentials=[Credential(b"late", "i")]), ("house 1", epoch[NO_ROOM]))
    wrong = _held_by(Write(credentials=[Credential(b"late", "i")]), ("house 1", epoch[NO_ROOM] + 1000))
    _expect_failure(store, [wrong], "an epoch that the house never had, and no room")
    store.lease([], "house 1", 0, epoch[NO_ROOM])
    _expect_failure(store, [of_no_room], "a house whose leases have ended, and no room")
    nothing_is_written(mine["den"], "a lease that has ended")
    store.commit([_held_by(Write("den"), mine["den"])])  # a write of nothing waits, and is no write to the room
    taken = store.lease(["den"], "house 2", LONG_MS)
    again = store.lease(["other"], "house 1", LONG_MS)
    nothing_is_written(mine["den"], "a lease that another house has taken")
    store.commit([_held_by(of_no_room, ("house 1", again[NO_ROOM]))])
    _expect(b"late" in {credential.hash for credential in store.credentials()}, True, "a write of a house with leases")
    theirs = _held_by(Write("den", _lines(1, start=10)), ("house 2", taken["den"]))
    store.commit([theirs, _held_by(Write("other", _lines(1, start=10)), ("house 1", again["other"]))])
    _expect((store.head("den"), store.head("other")), (10, 10), "the heads after each holder wrote to its room")


def _held_by(write: Write, holder: Holder) -> Write:
    write.holder = holder
    return write


# -- threads --------------------------------------------------------------------------------------
def threads_read_whole_commits_while_another_commits(store: Store) -> None:
    """Each commit adds four entries to one room, then to another."""

    def write() -> None:
        for i in range(SHARED_COMMITS):
            lines = _lines(4, start=4 * i)
            store.commit([Write("first", lines, (4 * i + 3, b"s")), Write("second", lines, refusals=_refusals([i]))])

    def read() -> None:
        seen = -1
        while seen < 4 * SHARED_COMMITS - 1 and not writing.done():
            head = store.head("first")
            numbers = _numbers(store, "second")
            _expect(numbers, list(range(len(numbers))), "the entries that a reader sees")
            _expect(len(numbers) % 4, 0, "entries of half a commit that a reader sees")
            _expect(head >= seen, True, "the head that a reader sees never goes back")
            _expect(len(numbers) > head, True, "a reader sees both rooms of a commit, or none")
            if head >= 0:
                _expect(store.rooms(), ["first", "second"], "the rooms that a reader sees")
                _expect(len(store.snapshots("first")) in (1, 2), True, "a reader sees one or two snapshots")
                _expect(len(store.refusals("second")) > 0, True, "a reader sees refusals")
            seen = head

    with ThreadPoolExecutor(1 + READERS) as pool:
        writing = pool.submit(write)
        for reading in [pool.submit(read) for _ in range(READERS)]:
            reading.result()
        writing.result()
    _expect(store.head("second"), 4 * SHARED_COMMITS - 1, "the head in the end")


# -- backup ---------------------------------------------------------------------------------------
def _backup_claim(open_backup: Callable[[str], Store] | None) -> Claim:
    def a_backup_is_a_copy_that_can_be_read(store: Store) -> None:
        store.commit([_full_room("den")])
        before = _everything(store, ["den"])
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "backup")
            try:
                store.backup(path)
            except BadArgs:  # this store does not support backups
                return
            store.commit([Write("den", _lines(1, start=10))])
            _expect(store.head("den"), 10, "the head after an entry that followed a backup")
            _expect(Path(path).is_file() and Path(path).stat().st_size > 0, True, "the backup is a file")
            if open_backup is None:
                return
            copy = open_backup(path)
            try:
                _expect(_everything(copy, ["den"]), before, "the contents of the backup")
            finally:
                copy.close()

    return a_backup_is_a_copy_that_can_be_read


CLAIMS: list[Claim] = [
    value
    for name, value in list(globals().items())
    if getattr(value, "__module__", "") == __name__ and name.islower() and name[0] != "_" and value is not check_store
]
"""All claims except the one about backups: the functions of this module, in their order."""
