"""The hand and the knowledge of a player, in words, where the library writes them in a form for programs.

Each function takes the text that the library shows this player, the game (``pyspiel.Game``) and the player, and adds
nothing that is not in that text.
"""

import re
from string import ascii_lowercase
from typing import Any

RANKS = "JQKA"
PLAYING_CARDS = 0x1F0A0
"""Unicode: the suits of sixteen each are spades, hearts, diamonds, clubs; a suit's first card is the ace."""
CARD_NAMES = "?A23456789TJCQK"


TAROKS = [
    "Pagat", "II", "III", "IIII", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV", "XVI", "XVII",
    "XVIII", "XIX", "XX", "Mond", "Skis",
]  # fmt: skip
COURT = ["Jack", "Knight", "Queen", "King"]
TAROK_CARDS = [
    *TAROKS,
    *(f"{rank} of {suit}" for suit in ("Hearts", "Diamonds") for rank in ["4", "3", "2", "1", *COURT]),
    *(f"{rank} of {suit}" for suit in ("Spades", "Clubs") for rank in ["7", "8", "9", "10", *COURT]),
]


def _fields(text: str) -> dict[str, str]:
    """[Private: 1][Round 1][Pot: 2]"""
    return {key: value.strip() for key, value in re.findall(r"\[(\w+):? ?([^\]]*)\]", text)}


def kuhn(text: str, game: Any, player: int | None) -> str:
    """The information state: the card, then the moves as letters, which the list of moves has already."""
    card, moves = re.fullmatch(r"(\d+)([pb]*)", text.strip()).groups()  # type: ignore[union-attr]
    bets = moves.count("b")
    return f"Your card: {_kuhn_card(int(card), game)}. {'Nobody has bet.' if not bets else f'Bets so far: {bets}.'}"


def _kuhn_card(card: int, game: Any) -> str:
    return _rank(card, game.num_players() + 1)


def _rank(rank: int, count: int) -> str:
    """Three ranks are jack, queen and king, a fourth is the ace; if there are more, they are numbers."""
    return f"{RANKS[rank]} ({' < '.join(RANKS[:count])})" if count <= len(RANKS) else f"{rank} (of 0 to {count - 1})"


def leduc(text: str, game: Any, player: int | None) -> str:
    known, hand = _fields(text), text.split("\n")[0] if text.startswith("Hand") else ""
    if "Private" not in known:  # between two hands
        return text
    public = known.get("Public", "")
    lines = [
        f"Your card: {_leduc_card(known['Private'], game)}.",
        f"Public card: {_leduc_card(public, game)}." if public else "The public card is not dealt yet.",
        f"Betting round {known['Round']}. Pot: {known['Pot']}. Money: {_each(known['Money'])}.",
    ]
    if "Ante" in known:
        lines.append(f"Paid into the pot: {_each(known['Ante'])}.")
    return "\n".join([f"{hand}."] * bool(hand) + lines)


def _leduc_card(card: str, game: Any) -> str:
    """Two cards of each rank follow each other."""
    alike = bool(game.get_parameters().get("suit_isomorphism"))
    return _rank(int(card) if alike else int(card) // 2, game.num_players() + 1)


def _each(numbers: str) -> str:
    return ", ".join(f"player{n} {value}" for n, value in enumerate(numbers.split()))


def dice(text: str, game: Any, player: int | None) -> str:
    """Liar's dice: the own dice, then the bids, which the list of moves has already."""
    words = re.sub(r"^P\d ", "", text.strip()).split()
    own = [word for word in words if "-" not in word and word != "Liar"]
    bids = [word for word in words if "-" in word]
    last = f"Last bid: {bids[-1]}." if bids else "Nobody has bid."
    return f"Your dice: {' '.join(''.join(own))}. {last}"


def auction(text: str, game: Any, player: int | None) -> str:
    value, _, bid = text.replace(f"p{player} val", "").partition("bid")
    return f"The item is worth {value.strip()} to you." + (f" You bid {bid.strip()}." if bid.strip() else "")


def pennies(text: str, game: Any, player: int | None) -> str:
    """Coordinated matching pennies: the letters are what was seen and done."""
    return (
        f"Seen so far (H heads, T tails; first what you are told, then the moves you know): {text.strip() or 'nothing'}"
    )


def poker(text: str, game: Any, player: int | None) -> str:
    known = _fields(text)
    lines = [f"Your cards: {known.get('Private', '')}.", f"Betting round {known['Round']}. Pot: {known['Pot']}."]
    if known.get("Public"):
        lines.insert(1, f"Public cards: {known['Public']}.")
    paid = known.get("PlayerContribution", "")
    lines += [f"Money: {_each(known['Money'])}."] + ([f"Paid into the pot: {_each(paid)}."] if paid else [])
    return "\n".join(lines)


def fish(text: str, game: Any, player: int | None) -> str:
    """Go Fish: ranks are letters in hands and moves, and numbers in the list of what was asked."""
    text = text.replace("recieved", "received")  # codespell:ignore recieved
    return re.sub(
        r"(\d+) asked (\d+) for (\d+)",
        lambda asked: f"player {asked[1]} asked player {asked[2]} for {ascii_lowercase[int(asked[3])]}",
        text,
    )


def drawn_cards(text: str, game: Any, player: int | None) -> str:
    """Skat shows cards as single characters; moves name them by letters."""
    named = re.sub("[\U0001f0a1-\U0001f0de]", lambda card: _card(card[0]), text)
    return "\n".join(part.strip() for part in named.split("|")).replace("PlPos:", "You are player ")


def _card(character: str) -> str:
    suit, rank = divmod(ord(character) - PLAYING_CARDS, 16)
    return "SHDC"[suit] + CARD_NAMES[rank]


def tarok(text: str, game: Any, player: int | None) -> str:
    """Cards as they are called in moves."""
    cards, _, rest = text.partition(";")
    named = [TAROK_CARDS[int(card)] for card in cards.split(",") if card]
    since = rest.strip(",") or "none"
    return f"Your cards: {', '.join(named)}.\nThe library's numbers of what you have seen since: {since}"


def boxes(text: str, game: Any, player: int | None) -> str:
    """Cooperative box pushing: the robot sees one thing."""
    return f"In front of you: {text.strip()}."


def sheriff(text: str, game: Any, player: int | None) -> str:
    """The steps so far, one in a line."""
    steps = text.strip().partition(" ")[2]
    lines = [step.replace("_", " ").replace(":", ": ") for step in steps.split("/") if step]
    return "\n".join(["So far:", *(f"  {line}" for line in lines)]) if lines else "Nothing has happened yet."


def bridge_bids(text: str, game: Any, player: int | None) -> str:
    """Tiny bridge: the hand first, then the calls that count, each with who made it."""
    hand, _, calls = text.strip().partition(" ")
    return f"Your hand: {hand}. " + (
        f"Calls: {calls} (Us: you, Pd: your partner, LH and RH: the opponents)." if calls else ""
    )


def deep_sea(text: str, game: Any, player: int | None) -> str:
    """The diver on the grid: one row for each depth."""
    width = int(game.get_parameters()["size"])
    rows = [text[at : at + width] for at in range(0, len(text), width)]
    return "\n".join(rows)


def prizes(text: str, game: Any, player: int | None) -> str:
    """Goofspiel, without a line that has numbers in it without spaces. Nobody wins a tie; it counts as player -3."""
    lines = [line.strip() for line in text.split("\n") if line and not line.startswith("Remaining Point Cards")]
    return "\n".join(_told(line) for line in lines)


def _told(line: str) -> str:
    name, _, numbers = line.partition(":")
    if name == "Win sequence":
        winners = [f"player{n}" if int(n) >= 0 else "nobody" for n in numbers.split()]
        return f"Rounds were won by: {', '.join(winners) or 'nobody yet'}."
    if name == "Points":
        return f"Points: {_each(numbers)}."
    return re.sub(r"^P(\d+) hand: ", r"Cards of player\1: ", line)


def hanabi(text: str, game: Any, player: int | None) -> str:
    """The hands begin with the own one, in which no card is known, then those of the next players."""
    before, _, rest = text.partition("Hands:\n")
    hands, _, after = rest.partition("Deck size")
    lines = [before.strip().replace("Info tokens", "Hints left").replace("Life tokens", "Lives")]
    for number, hand in enumerate(hands.split("-----\n")):
        cards = [line.split(" || ") for line in hand.strip().split("\n") if " || " in line]
        told = (known.split("|") for _, known in cards)
        lines.append("Your hand:" if not number else f"The hand of player +{number}:")
        lines += [
            f"  {place}: {'' if not number else f'{card}, '}hinted {hint}, can be {' '.join(possible)}"
            for place, ((card, _), (hint, possible)) in enumerate(zip(cards, told, strict=True))
        ]
    return "\n".join([*lines, f"Deck size{after}".strip()])


def proposals(text: str, game: Any, player: int | None) -> str:
    """Negotiation."""
    text = re.sub(r"Agent \d+ util vec", "What one of each kind is worth to you", text)
    return text.replace("Item pool", "How many there are of each kind of item").replace("Max steps", "Most steps")


def signals(text: str, game: Any, player: int | None) -> str:
    """Tiny Hanabi: the own card, and the payoffs, which the library does not show. The list of moves has the rest."""
    card = re.search(r":d(\d+)", text)
    lines = [f"Your card: d{card[1]}." if card else "No card is dealt yet.", "Payoffs, for the cards and moves:"]
    for dealt in ((one, other) for one in (0, 1) for other in (0, 1)):
        state = game.new_initial_state()
        for one in dealt:
            state.apply_action(one)
        rows = []
        for first in state.legal_actions():
            after = state.child(first)
            scores = ", ".join(f"{after.child(second).returns()[0]:g}" for second in after.legal_actions())
            rows.append(f"a{first}: {scores}")
        lines.append(f"  player0 has d{dealt[0]}, player1 d{dealt[1]}: {'; '.join(rows)}")
    moves = ", ".join(f"a{move}" for move in range(game.num_distinct_actions()))
    return "\n".join([*lines, f"A row is the move of player0, with a score for each of player1's: {moves}."])


def coins(text: str, game: Any, player: int | None) -> str:
    """The coin game: the first line is the number of the colour that the player prefers."""
    colour, _, rest = text.partition("\n")
    return f"You prefer coins of colour {ascii_lowercase[int(colour)]}. Collected so far, and the board:\n{rest}"


def landlord(text: str, game: Any, player: int | None) -> str:
    """Dou dizhu: the last line is three."""
    return re.sub(r"(?<=\d)(start player|My position)", r"\n\1", text)
