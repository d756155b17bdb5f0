"""Opinions, war and peace between kingdoms."""

from cohabit.worlds.kingdoms.sim import Kingdom, Sim, War

BORDER, CONTACT = 26, 70
"""Kingdoms share a border, or know of each other, if their nearest cities are within these distances."""
BORDER_QUARREL = 3
OTHER_RACE = 1
SAME_RACE = 1
RIVAL_CULTURE = 1
OPINION_FADES = 1
"""How opinions change when a crown acts: down for a border, another race and a much smaller culture, up for the same
race, and towards 0 between kingdoms without contact. Trade raises them, a war lowers them."""
WAR_OPINION = -60
"""At the beginning of a war both opinions fall at least to this."""
PEACE_OPINION = -15
"""At its end both are set to this."""
PEACE_LASTS = 1200
"""For this many ticks after a peace neither crown declares a war."""
WAR_BELOW = -35
"""A crown considers a war if its opinion of a neighbour is not above this,"""
WAR_STRENGTH = 70
"""and it has at least this many percent of the neighbour's people;"""
WAR_CHANCE = 1, 5
"""then it declares one with this chance."""
WAR_MIN_PEOPLE = 20
"""A kingdom with fewer people declares no war."""
PEACE_WEARINESS = 55
PEACE_OTHER_WEARINESS = 20
"""A crown makes peace if it is this weary and the other kingdom at least that weary,"""
MAX_WAR_TICKS = 5000
"""or if the war has lasted this long."""


# -- war and peace --------------------------------------------------------------------------------
def declare_war(sim: Sim, attacker: int, defender: int, cause: str) -> None:
    """Begin a war, unless the two are at war already or the law of peace is in force."""
    one, other = sim.kingdoms[attacker], sim.kingdoms[defender]
    impossible = attacker == defender or not (one.alive and other.alive)
    if impossible or sim.laws.get("peace") or sim.are_at_war(attacker, defender):
        return
    sim.wars.append(War(attacker=attacker, defender=defender, begun=sim.tick, cause=cause))
    sim.tally.wars_begun += 1
    sim.stale = True
    for pair in ((attacker, defender), (defender, attacker)):
        sim.opinions[pair] = min(WAR_OPINION, sim.opinions.get(pair, 0))
    sim.tell(f"{one.name} declares war on {other.name}: {cause}.", None, "danger")


def make_peace(sim: Sim, a: int, b: int) -> None:
    """End the war between these two, if there is one."""
    if not sim.are_at_war(a, b):
        return
    sim.wars = [war for war in sim.wars if (war.attacker, war.defender) not in ((a, b), (b, a))]
    sim.tally.wars_ended += 1
    sim.stale = True
    for one, other in ((a, b), (b, a)):
        sim.opinions[one, other] = PEACE_OPINION
        realm = sim.kingdoms[one]
        realm.weariness //= 2
        realm.no_war_before = sim.tick + PEACE_LASTS
        realm.goal, realm.goal_is_attack = None, False
        for city in sim.cities_of(one):
            if city.besieger == other:
                city.besieger = city.siege = 0
    sim.tell(f"{sim.kingdoms[a].name} and {sim.kingdoms[b].name} make peace.", None, "success")


# -- what a crown decides -------------------------------------------------------------------------
def enemies(sim: Sim, kingdom: Kingdom) -> list[Kingdom]:
    return [other for other in sim.alive if sim.are_at_war(kingdom.id, other.id)]


def distance(sim: Sim, one: int, other: int) -> int:
    """The distance between the nearest cities of two kingdoms."""
    theirs = sim.cities_of(other)
    return min((max(abs(a.x - b.x), abs(a.y - b.y)) for a in sim.cities_of(one) for b in theirs), default=10_000)


def update_opinions(sim: Sim, kingdom: Kingdom) -> None:
    """Change this kingdom's opinion of every other."""
    for other in sim.alive:
        if other is kingdom:
            continue
        now = sim.opinions.get((kingdom.id, other.id), 0)
        away = distance(sim, kingdom.id, other.id)
        change = -OPINION_FADES if now > 0 else OPINION_FADES if now < 0 else 0
        if away <= CONTACT:
            change = SAME_RACE if other.race == kingdom.race else -OTHER_RACE
            change -= BORDER_QUARREL if away <= BORDER else 0
            change -= RIVAL_CULTURE if other.culture * 2 < kingdom.culture else 0
        sim.opinions[kingdom.id, other.id] = min(100, max(-100, now + change))


def seek_peace(sim: Sim, kingdom: Kingdom) -> None:
    """End the wars with other crowns that have become too long or too costly."""
    for war in list(sim.wars):
        if kingdom.id not in (war.attacker, war.defender):
            continue
        other = sim.kingdoms[war.defender if war.attacker == kingdom.id else war.attacker]
        weary = kingdom.weariness >= PEACE_WEARINESS and other.weariness >= PEACE_OTHER_WEARINESS
        if not other.claimed and (weary or sim.tick - war.begun > MAX_WAR_TICKS):
            make_peace(sim, kingdom.id, other.id)


def seek_war(sim: Sim, kingdom: Kingdom) -> None:
    """Maybe declare war on the most hated kingdom in contact that is weak enough."""
    if sim.tick < kingdom.no_war_before or kingdom.people < WAR_MIN_PEOPLE or enemies(sim, kingdom):
        return
    weak = [k for k in sim.alive if k is not kingdom and kingdom.people * 100 >= k.people * WAR_STRENGTH]
    hated = [
        (sim.opinions.get((kingdom.id, k.id), 0), k.id) for k in weak if distance(sim, kingdom.id, k.id) <= CONTACT
    ]
    if not hated or min(hated)[0] > WAR_BELOW:
        return
    if sim.chance.one(WAR_CHANCE[1], "war", sim.tick, kingdom.id) < WAR_CHANCE[0]:
        other = sim.kingdoms[min(hated)[1]]
        declare_war(sim, kingdom.id, other.id, _cause(sim, kingdom, other))


def _cause(sim: Sim, kingdom: Kingdom, other: Kingdom) -> str:
    """The reason that is given for a war."""
    if distance(sim, kingdom.id, other.id) <= BORDER:
        return "a quarrel over the border"
    return "old hatred" if kingdom.race != other.race else "a quarrel between kin"
