"""The table of Whist takes part in the deals and checks each hand: in a real browser, against houses that cheat."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Frame, FrameLocator, Page, expect

from cohabit import fair
from cohabit.errors import GameRejected
from cohabit.fair import Draw, Luck, Proof, broken_promises, seat_commitment
from cohabit.scenario import AgentSpec, Scenario

from .page import Running, Visit, token

pytestmark = pytest.mark.browser


@pytest.fixture
def house(empty_house: Running) -> Running:
    return empty_house


def whist(*people: str, points: int = 50) -> Scenario:
    """A table with ann, these others, bots on the other seats, a watcher, a host, and somebody who sees everything."""
    seated = [
        AgentSpec(id=name, kind="human", role="human", claim=f"auto:{i}", token=token(name))
        for i, name in enumerate(("ann", *people))
    ]
    bots = [
        AgentSpec(id=name, role="player", claim=f"auto:{i}", brain="whist")
        for i, name in list(enumerate(("pat", "alex", "robin"), 1))[len(people) :]
    ]
    others = [
        AgentSpec(id="eve", kind="human", role="agent", token=token("eve")),
        AgentSpec(id="hal", kind="human", role="host", token=token("hal")),
        AgentSpec(id="zeus", kind="human", role="god", token=token("zeus")),
    ]
    agents = [*seated, *bots, *others]
    return Scenario(scenario="whist", world="whist", config={"points": points}, seed=1, agents=agents)


def document(page: Page) -> FrameLocator:
    return page.frame_locator(".front-end-frame")


def frame_of(page: Page) -> Frame:
    handle = page.locator(".front-end-frame").element_handle()
    frame = handle.content_frame() if handle is not None else None
    assert frame is not None
    return frame


def status(house: Running, who: str = "ann") -> dict[str, Any]:
    seen: dict[str, Any] = house.call(who, "view").observation.status
    return seen


def dealt(page: Page) -> None:
    """Wait until the table has cut and revealed by itself, and shows the cards."""
    expect(document(page).locator("#hand button")).to_have_count(13)


def play_hand(house: Running, *people: str) -> None:
    """Play the rest of a hand for these people, without their pages."""
    hand = status(house)["handNumber"]
    while (now := status(house))["phase"] == "playing" and now["handNumber"] == hand:
        for who in people or ("ann",):
            view = house.call(who, "view")
            if view.your_turn and view.observation.status["legal"]:
                house.call(who, "play", card=view.observation.status["legal"][0])


def verdict(page: Page, text: str, why: str) -> None:
    """This mark is shown beside the question, and its reason below it."""
    shown = document(page).locator("#verdicts b").filter(has_text=text)
    expect(shown.first).to_be_visible()
    expect(document(page).locator("#fair dd").filter(has_text=why).first).to_be_attached()


def test_the_table_commits_reveals_and_confirms_each_hand_to_its_player_and_to_a_watcher(
    house: Running, visit: Visit
) -> None:
    house.open(whist())
    watcher = visit(house.link("eve"))
    expect(document(watcher).locator("#felt")).to_be_visible()
    page = visit(house.link("ann"))
    dealt(page)
    expect(document(watcher).locator(".backs i").first).to_be_visible()
    promised = status(house)["deal"]
    play_hand(house)
    verdict(page, "Hand 1 ✔", "your number is in it: nobody can have chosen them")
    verdict(watcher, "Hand 1 ✔", "they are fair unless the house works with North")
    proof = house.call("ann", "deals")[0].proof
    assert [made is not None for made in proof.commitments] == [True, False, False, False]
    own = frame_of(page).evaluate("[...mine.values()][0]")
    assert broken_promises(proof, proof.promise, 0, own["nonce"]) == []
    assert (proof.commitment, list(proof.commitments)) == (promised["commitment"], promised["commitments"])
    dealt(page)  # the next hand has begun, and the table takes part again
    play_hand(house)
    verdict(page, "Hand 2 ✔", "your number is in it")


def other_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The house deals another order of the cards."""
    true = Luck.shuffled
    monkeypatch.setattr(Luck, "shuffled", lambda luck, items: true(luck, items)[::-1])


def other_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The house chooses the nonce of a bot after the person has revealed, as it could do before there was `reveal`."""
    true = Draw.proof
    monkeypatch.setattr(
        Draw, "proof", lambda draw: replace(true(draw), nonces=(*true(draw).nonces[:3], "0" * 63 + "1"))
    )


def one_nonce_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The house adds a fifth nonce, which it can choose after all have revealed."""
    true = Draw.proof
    monkeypatch.setattr(Draw, "proof", lambda draw: replace(true(draw), nonces=(*true(draw).nonces, "0" * 64)))


def other_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """The house changes its secret, and the nonces and the commitment with it."""
    true = Draw.proof

    def proof(draw: Draw) -> Proof:
        mine = fair.house_commitment(draw.game, draw.number, "f" * 64)
        return true(replace(draw, secret="f" * 64, commitment=mine))

    monkeypatch.setattr(Draw, "proof", proof)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("cheat", "why"),
    [
        (other_cards, "the cards do not follow from the numbers"),
        (other_bot, "the number of West is not the one that was committed to"),
        (one_nonce_more, "there is not one number for each seat"),
        (other_secret, "the commitments are not those that were shown before the deal"),
    ],
)
def test_a_hand_of_a_house_that_cheats_gets_a_cross(
    house: Running, visit: Visit, monkeypatch: pytest.MonkeyPatch, cheat: Any, why: str
) -> None:
    cheat(monkeypatch)
    house.open(whist())
    page = visit(house.link("ann"))
    dealt(page)
    play_hand(house)
    verdict(page, "Hand 1 ✘", why)
    expect(document(page).locator("#verdicts b[data-is=✔]")).to_have_count(0)


TAMPERED = [
    ("deal.proof.secret = '0'.repeat(64)", "the secret is not the one that the house had committed to"),
    ("deal.proof.number += 1", "the secret is not the one that the house had committed to"),
    ("deal.proof.game += 'x'", "the secret is not the one that the house had committed to"),
    ("deal.proof.nonces[0] = '0'.repeat(64)", "the number of North is not the one that was committed to"),
    ("deal.proof.nonces[0] = '0'.repeat(64)", "your number, which you revealed, is not in it"),
    ("deal.proof.nonces[1] = '0'.repeat(64)", "the number of East is not the one that was committed to"),
    ("deal.proof.commitment = '0'.repeat(64)", "the commitments are not those that were shown before the deal"),
    ("deal.proof.commitments[0] = null", "the commitments are not those that were shown before the deal"),
    (
        "[deal.hands[0][0], deal.hands[1][0]] = [deal.hands[1][0], deal.hands[0][0]]",
        "the cards are not those that were shown during the hand",
    ),
    ("deal.hands.reverse()", "the cards do not follow from the numbers"),
    ("deal.trumpCard = deal.hands[3].find((card) => card !== deal.trumpCard)", "do not follow from the numbers"),
    ("deal.dealer = 0", "its number or its dealer does not follow from the rules"),
    ("deal.handNumber = 2", "its number or its dealer does not follow from the rules"),
    ("deal.missed = [0]", "North is listed both as having revealed and as not having revealed"),
    ("[deal.missed, deal.proof.nonces[0]] = [[0], null]", "your number, which you revealed, is not in it"),
    (
        "[deal.missed, deal.proof.nonces[1]] = [[1], null]",
        "East is listed as not having revealed, but had nothing to reveal",
    ),
    ("deal.missed = ['1']", "a seat is said not to have revealed, and its number is there"),
    ("place.out = [0]", "North did not reveal before, and could add a number again"),
    ("mine.set(key, { ...mine.get(key), commitment: '', promise: '' })", "though you have missed no reveal"),
    ("deal.hands = null", "cannot be read"),
]


def test_every_way_to_change_a_deal_is_found_in_the_browser(house: Running, visit: Visit) -> None:
    house.open(whist())
    page = visit(house.link("ann"))
    dealt(page)
    play_hand(house)
    verdict(page, "Hand 1 ✔", "your number is in it")
    for change, why in [("", "your number is in it"), *TAMPERED]:
        script = f"""async () => {{
            const {{ result: [deal] }} = await call("deals"), key = keyOf(deal.proof);
            const place = {{ number: 1, handNumber: 1, out: [] }};
            {change};
            return verdictOn(deal, place, mine.get(key), noted.get(key)).catch(() => ["✘", "Its values cannot be read."]);
        }}"""
        mark, said = frame_of(page).evaluate(script)
        assert mark == ("✘" if change else "✔"), (change, said)
        assert why in said, (change, said)


def test_a_house_that_shows_another_commitment_for_me_does_not_get_my_number(
    house: Running, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = Draw.commit
    monkeypatch.setattr(
        Draw, "commit", lambda draw, seat, made: true(draw, seat, "0" * 64 if seat == 0 and made else made)
    )
    house.open(whist())
    page = visit(house.link("ann"))
    verdict(page, "Deal 1 ✘", "The commitment that the house shows for you is not the one you sent")
    assert (status(house)["phase"], status(house)["deal"]["revealed"]) == ("reveal", [False] * 4)
    document(page).get_by_role("button", name="Go on without a number of mine").click()
    expect(document(page).locator("#hand button")).to_have_count(13)
    expect(document(page).locator("#without")).to_be_hidden()


def test_a_deal_that_somebody_stops_is_shown_as_void_and_the_next_one_is_checked(house: Running, visit: Visit) -> None:
    house.open(whist("bob"))
    page = visit(house.link("ann"))
    expect(document(page).locator("#turn")).to_have_text("Waiting for the cut of bob.")
    deal = status(house)["deal"]
    house.call("bob", "cut", commitment=seat_commitment(deal["game"], 1, 1, "0" * 64))
    expect(document(page).locator("#turn")).to_have_text("Waiting for the reveal of bob.")
    house.call("bob", "reveal")
    verdict(page, "Deal 1 ○", "Void, because East did not reveal")
    house.call("bob", "cut")
    dealt(page)
    play_hand(house, "ann", "bob")
    verdict(page, "Hand 1 ✔", "your number is in it")


@pytest.mark.soak
def test_a_house_that_says_that_i_did_not_reveal_gets_a_cross(
    house: Running, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Draw, "reveal", lambda draw, seat, nonce: draw.give_up(seat))
    house.open(whist())
    page = visit(house.link("ann"))
    verdict(page, "Deal 1 ✘", "your number, which you revealed, is not in it")
    expect(document(page).locator("#hand button")).to_have_count(13)  # the game goes on without it
    assert status(house)["deal"]["commitments"][0] is None


@pytest.mark.soak
def test_a_house_that_takes_my_number_and_says_that_it_refuses_it_gets_a_cross(
    house: Running, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(draw: Draw, seat: int, nonce: str) -> Draw:
        raise GameRejected("please try again later")

    monkeypatch.setattr(Draw, "reveal", refused)
    house.open(whist())
    page = visit(house.link("ann"))
    expect(document(page).locator("#problem")).to_contain_text("please try again later")
    house.call("ann", "reveal")  # the house says that she did not reveal
    verdict(page, "Deal 1 ✘", "your number, which you revealed, is not in it")


@pytest.mark.soak
def test_a_deal_that_the_house_lists_before_it_is_played_is_judged_when_it_is_over(
    house: Running, visit: Visit
) -> None:
    """Or it could list a fair one, and play another."""
    house.open(whist())
    page = visit(house.link("ann"))
    dealt(page)
    frame_of(page).evaluate(
        """() => {
            const real = call;
            call = async (name, args) => {
                const reply = await real(name, args);
                if (name !== "deals") return reply;
                const [first, ...others] = reply.result;
                const next = { ...first, handNumber: 2, dealer: 0, proof: { ...first.proof, number: 2 } };
                return others.length ? reply : { result: [first, next] };
            };
        }"""
    )
    play_hand(house)
    verdict(page, "Hand 1 ✔", "your number is in it")
    dealt(page)
    play_hand(house)
    verdict(page, "Hand 2 ✔", "your number is in it")


@pytest.mark.soak
def test_a_deal_that_the_house_leaves_out_gets_a_cross(house: Running, visit: Visit) -> None:
    house.open(whist())
    page = visit(house.link("ann"))
    dealt(page)
    frame_of(page).evaluate(
        """() => {
            const real = call;
            call = async (name, args) => name === "deals" ? { result: [] } : real(name, args);
        }"""
    )
    play_hand(house)
    verdict(page, "Deal 1 ✘", "the house does not list it")


@pytest.mark.sampled
@pytest.mark.parametrize("how", ["reset", "rematch"])
def test_a_deal_that_is_left_after_i_have_revealed_gets_a_cross(house: Running, visit: Visit, how: str) -> None:
    house.open(whist())
    page = visit(house.link("ann"))
    dealt(page)
    first = status(house)["myHand"]
    house.call("hal", how)
    verdict(page, "Deal 1 ✘", "You had revealed your number; then the ")
    dealt(page)
    assert status(house)["myHand"] != first  # my number is another one


@pytest.mark.soak
def test_a_table_that_goes_back_to_a_hand_that_was_played_gets_a_cross(house: Running, visit: Visit) -> None:
    house.open(whist())
    seed = house.call("zeus", "reset").seed
    page = visit(house.link("ann"))
    dealt(page)
    play_hand(house)
    verdict(page, "Hand 1 ✔", "your number is in it")
    dealt(page)
    house.call("zeus", "reset", seed=seed)
    verdict(page, "Deal 1 ✘", "which had been dealt before")


@pytest.mark.soak
def test_the_last_hand_of_a_game_is_checked_and_a_rematch_after_it_is_no_reason_for_a_cross(
    house: Running, visit: Visit
) -> None:
    house.open(whist(points=1))
    page = visit(house.link("ann"))
    dealt(page)
    play_hand(house)
    verdict(page, "Hand 1 ✔", "your number is in it")
    house.call("hal", "rematch")
    dealt(page)
    expect(document(page).locator("#verdicts b")).to_have_text(["Hand 1 ✔"])


def test_a_browser_without_webcrypto_adds_nothing_and_says_so(house: Running, visit: Visit) -> None:
    house.open(whist())
    missing = "Object.defineProperty(Crypto.prototype, 'subtle', { get: () => undefined })"
    page = visit(house.link("ann"), prepare=lambda tab: tab.add_init_script(missing))
    dealt(page)
    assert status(house)["deal"]["commitments"] == [None] * 4
    play_hand(house)
    verdict(page, "Hand 1 ○", "This browser cannot check deals")


def test_hands_to_which_nobody_added_a_number_are_not_called_fair(house: Running, visit: Visit) -> None:
    house.open(whist())
    page = visit(house.link("eve"))
    expect(document(page).locator("#felt")).to_be_visible()
    house.call("ann", "cut")
    play_hand(house)
    verdict(page, "Hand 1 ○", "Nobody added a number")


HIDE = """
new IntersectionObserver(([{ isIntersecting }]) => { window.wasHidden ||= !isIntersecting; }).observe(document.body);
document.body.style.display = 'none';
"""


@pytest.mark.soak
def test_a_table_that_is_out_of_sight_still_reveals_and_checks(house: Running, visit: Visit) -> None:
    house.open(whist("bob"))
    page = visit(house.link("ann"))
    expect(document(page).locator("#turn")).to_have_text("Waiting for the cut of bob.")
    frame_of(page).evaluate(HIDE)
    # A frame that is out of sight is not drawn, so nothing there can wait for the next time it is.
    until = partial(frame_of(page).wait_for_function, polling=50)
    until("() => window.wasHidden")
    house.call("bob", "cut")
    until("() => [...mine.values()].some(({ promise }) => promise)")
    play_hand(house, "ann", "bob")
    until("() => [...verdicts.values()].some(({ what, is }) => what === 'Hand 1' && is === '✔')")


def test_a_table_whose_house_is_restarted_before_the_reveal_still_reveals(house: Running, visit: Visit) -> None:
    house.open(whist("bob"))
    page = visit(house.link("ann"))
    expect(document(page).locator("#turn")).to_have_text("Waiting for the cut of bob.")
    house.stop()
    house.start()
    house.call("bob", "cut")
    dealt(page)
    play_hand(house, "ann", "bob")
    verdict(page, "Hand 1 ✔", "your number is in it")


@pytest.mark.soak
def test_a_save_that_is_loaded_after_a_hand_gets_a_cross(house: Running, visit: Visit) -> None:
    house.open(replace(whist(), sealed=False))  # a sealed room refuses such a save
    page = visit(house.link("ann"))
    dealt(page)
    house.call("hal", "save_world", name="before")
    play_hand(house)
    verdict(page, "Hand 1 ✔", "your number is in it")
    house.call("hal", "load_world", name="before")
    verdict(page, "Deal 1 ✘", "which had been dealt before")


@pytest.mark.soak
def test_the_whole_hand_is_in_sight_at_a_desk_without_scrolling(house: Running, visit: Visit) -> None:
    house.open(whist())
    page = visit(house.link("ann"))
    dealt(page)
    for height in (720, 800, 900):
        page.set_viewport_size({"width": 1280, "height": height})
        expect(document(page).locator("#hand .card")).to_have_count(13)
        below = frame_of(page).evaluate(
            """() => Math.max(...[...document.querySelectorAll("#hand .card")].map((card) => card.getBoundingClientRect().bottom)) - innerHeight"""
        )
        assert below <= 0, (height, below)


def test_the_result_of_a_game_covers_no_name(house: Running, visit: Visit) -> None:
    house.open(whist(points=1))
    pages = [visit(house.link(who)) for who in ("ann", "eve")]
    dealt(pages[0])
    while status(house)["phase"] != "gameOver":
        play_hand(house)
    for page in pages:
        for width, height in ((1280, 720), (360, 640)):
            page.set_viewport_size({"width": width, "height": height})
            expect(document(page).locator("#news")).to_contain_text(re.compile(r" win \d+ : 0"))
            expect(document(page).locator(".plate")).to_have_count(4)
            covered = frame_of(page).evaluate(
                """() => { const box = document.getElementById("news").getBoundingClientRect();
                return [...document.querySelectorAll(".plate")].filter((plate) => {
                  const name = plate.getBoundingClientRect();
                  return name.left < box.right && box.left < name.right && name.top < box.bottom && box.top < name.bottom;
                }).map((plate) => plate.textContent); }"""
            )
            assert covered == [], (width, height)
