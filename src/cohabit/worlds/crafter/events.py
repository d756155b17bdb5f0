"""The last step of a player as a sentence: the outcome of its action, and who hurt it."""

from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.player import Failure, Player
from cohabit.worlds.words import with_article

_SUBSTANCES = (rules.WATER, rules.GRASS, rules.STONE, rules.SAND, rules.LAVA, rules.COAL, rules.IRON)

_WHY = {
    "asleep": "you are asleep until your energy is 9",
    "rested": "you can sleep only if your energy is below 9",
    "unripe": "the plant is not ripe yet",
    "unlucky": "no sapling this time; one in ten tries finds one",
    "peace": "fighting is not allowed here",
    "nobody": "nobody is in front of you",
    "edge": "nothing can be made at the left and the upper edge of the map",
}
_TAKEN = {"zombie": "a zombie hit you", "arrow": "an arrow hit you", "want": "hunger, thirst or tiredness hurts"}
_DEATHS = {
    "lava": "died in lava", "want": "died of hunger, thirst or tiredness", "zombie": "died: a zombie",
    "arrow": "died: an arrow",
}  # fmt: skip


def action_text(number: int, player: Player) -> str:
    """The reply to an action: its outcome."""
    return outcome_text(player) or f"{rules.ACTIONS[number]}: done."


def outcome_text(player: Player) -> str:
    """The outcome of an action; empty if it had the usual effect and there is nothing to add."""
    return events_text(player) or _gain_text(player)


def _gain_text(player: Player) -> str:
    if player.gained is None:
        return ""
    if player.gained < 0:
        return f"You drank: {player.drink} of {rules.MOST}."
    item = rules.ITEMS[player.gained]
    if player.wasted:
        return f"You carry {rules.MOST} {item} already, so this one is lost."
    return f"You have {player.items[player.gained]} {item} now."


def failure_text(player: Player, failure: Failure) -> str:
    """Why an action has no effect."""
    reason, *about = failure
    if reason in _WHY:
        return _WHY[reason]
    if reason == "tool":
        return f"you need {with_article(rules.ITEMS[about[0]])}"
    if reason == "short":
        return f"you need {about[1]} {rules.ITEMS[about[0]]} and have {player.items[about[0]]}"
    if reason == "nearby":
        return f"there is no {' and no '.join(rules.MATERIALS[material] for material in about)} within one cell"
    if reason == "full":
        return f"player {about[0]} cannot carry more of it"
    name = _described(about[0])
    if reason == "blocked":
        return f"{name} is in the way"
    if reason == "where":
        return f"it cannot be placed on {name}"
    return f"there is nothing to do with {name}"


def _described(kind: int) -> str:
    """A material or a thing in a sentence: ``a tree``, but ``stone``."""
    if kind == rules.OUTSIDE:
        return "the edge of the map"
    return rules.NAMES[kind] if kind in _SUBSTANCES else with_article(rules.NAMES[kind])


def death_text(player: Player) -> str:
    """The cause of a player's death, as text."""
    return _DEATHS.get(player.hurt_by, f"died: {player.hurt_by}")


def events_text(player: Player, time_is_up: bool = False, has_chosen: bool = False) -> str:
    """The events of a player's last step, as text; empty if there is nothing to tell. ``has_chosen``: it has chosen its
    next action, for which it would take the failure of the last one."""
    parts = []
    if has_chosen:
        pass
    elif player.blocked is not None:
        parts.append(f"you turned, and {_described(player.blocked)} is in the way")
    elif player.failure is not None:
        parts.append(f"no effect: {failure_text(player, player.failure)}")
    if player.struck is not None:
        kind, health = player.struck
        parts.append(
            f"you hit the {rules.NAMES[kind]}, {health} health left"
            if health
            else f"you killed the {rules.NAMES[kind]}"
        )
    for by, damage in player.hits:
        parts.append(f"{_TAKEN.get(by, f'{by} hit you')}, -{damage} health")
    if player.gave is not None:
        item, amount, to = player.gave
        parts.append(
            f"you gave {amount} {rules.ITEMS[item]} to player {to}"
            if to
            else f"you dropped {amount} {rules.ITEMS[item]}"
        )
    for item, amount, by in player.received:
        parts.append(
            f"player {by} gave you {amount} {rules.ITEMS[item]}" if by else f"you took {amount} {rules.ITEMS[item]}"
        )
    if player.new:
        parts.append(f"achieved {', '.join(rules.ACHIEVEMENTS[number] for number in player.new)}")
    if not player.alive:
        parts.append(f"you {death_text(player)}")
    elif time_is_up:
        parts.append("time is up")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""
