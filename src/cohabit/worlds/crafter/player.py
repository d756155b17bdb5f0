"""The body of a player: position, vitals, inventory, achievements, and what happened to it in the last step."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from cohabit.worlds.crafter.rules import ACHIEVEMENTS, ITEMS, MOST, NAMES, PLAYER

Vital = Annotated[int, Meta(ge=0, le=MOST)]
Way = Annotated[int, Meta(ge=-1, le=1)]
Count = Annotated[int, Meta(ge=0, lt=1 << 31)]
Thing = Annotated[int, Meta(ge=0, lt=len(NAMES))]  # a material or a thing
Item = Annotated[int, Meta(ge=-1, lt=len(ITEMS))]
Name = Annotated[str, Meta(max_length=40, pattern=r"^[\w-]*$")]
Cause = Annotated[str, Meta(max_length=50, pattern=r"^[\w -]*$")]
Failure = tuple[Any, ...]  # a reason and what it is about; see ``events.failure_text``
Few = Meta(max_length=100)  # of anything that happened in one step


class Player(Struct, eq=False, forbid_unknown_fields=True):
    """The limits are those of a save, which can come from anybody."""

    name: Name = ""
    number: Count = 0
    kind: Literal[13] = PLAYER  # type: ignore[assignment]  # its number among the things
    x: int = 0
    y: int = 0
    cell: int = 0
    dx: Way = 0  # the direction it faces: down at first
    dy: Way = 1
    health: Vital = MOST
    food: Vital = MOST
    drink: Vital = MOST
    energy: Vital = MOST
    hunger: float = 0.0
    thirst: float = 0.0
    fatigue: int = 0
    recovery: float = 0.0
    items: Annotated[list[Vital], Meta(min_length=len(ITEMS), max_length=len(ITEMS))] = field(
        default_factory=lambda: [0] * len(ITEMS)
    )
    achievements: Annotated[list[Count], Meta(min_length=len(ACHIEVEMENTS), max_length=len(ACHIEVEMENTS))] = field(
        default_factory=lambda: [0] * len(ACHIEVEMENTS)
    )
    sleeping: bool = False
    removed: bool = False  # off the map: dead, or away
    away: bool = False  # has left, and may come back
    left_at: Count = 0  # the step at which it left
    first: Count = 0  # achievements that it was the first to unlock
    health_when_awake: Vital = MOST  # what `live` saw last; less means that something hurt it
    health_before: Vital = MOST  # at the end of the step before
    unlocked: Count = 0  # number of different achievements
    reward: float = 0.0  # of the last step
    total_reward: float = 0.0
    # The events of the last step, for the text.
    failure: Failure | None = None  # why the action had no effect
    blocked: Thing | None = None  # it only turned, because this was in the way
    gained: Item | None = None  # the item that it collected or made; -1: a drink
    wasted: bool = False  # it had as much of it as it can carry
    new: Annotated[list[Annotated[int, Meta(ge=0, lt=len(ACHIEVEMENTS))]], Few] = []  # achievements unlocked
    hits: Annotated[list[tuple[Cause, Vital]], Few] = []  # by whom, and how much
    struck: tuple[Thing, Count] | None = None  # the creature it hit, and what is left of its health
    gave: tuple[Item, Vital, Name] | None = None  # item, amount, and to whom; "" on the ground
    received: Annotated[list[tuple[Item, Vital, Name]], Few] = []  # item, amount, and from whom
    hurt_by: Cause = ""  # what hurt it last

    @property
    def alive(self) -> bool:
        return self.health > 0

    def begin_step(self) -> None:
        self.failure = self.struck = self.gave = self.blocked = self.gained = None
        if self.new:
            self.new = []
        if self.hits:
            self.hits = []
        if self.received:
            self.received = []

    def achieve(self, achievement: int) -> None:
        self.achievements[achievement] += 1
        if self.achievements[achievement] == 1:
            self.new.append(achievement)

    def gain(self, item: int) -> None:
        self.gained, self.wasted = item, self.items[item] >= MOST
        self.items[item] = min(self.items[item] + 1, MOST)

    def hurt(self, damage: int, by: str) -> None:
        self.health = max(0, self.health - damage)
        self.hits.append((by, damage))
        self.hurt_by = by

    def live(self) -> None:
        """Hunger, thirst, tiredness and recovery in one step; at its end being hurt wakes a sleeper."""
        sleeping = self.sleeping
        passed = 0.5 if sleeping else 1
        self.hunger += passed
        if self.hunger > 25:
            self.hunger = 0.0
            self.food -= 1
        self.thirst += passed
        if self.thirst > 20:
            self.thirst = 0.0
            self.drink -= 1
        self.fatigue = min(self.fatigue - 1, 0) if sleeping else self.fatigue + 1
        if self.fatigue < -10:
            self.fatigue = 0
            self.energy += 1
        elif self.fatigue > 30:
            self.fatigue = 0
            self.energy -= 1
        if self.food > 0 and self.drink > 0 and (self.energy > 0 or sleeping):
            self.recovery += 2 if sleeping else 1
        else:
            self.recovery -= 0.5 if sleeping else 1
        if self.recovery > 25:
            self.recovery = 0.0
            self.health += 1
        elif self.recovery < -15:
            self.recovery = 0.0
            self.hurt(1, "want")
        # Amounts are limited only now: eating when full still makes up for the hunger of this step.
        self.health = min(self.health, MOST)
        self.food = max(0, min(self.food, MOST))
        self.drink = max(0, min(self.drink, MOST))
        self.energy = max(0, min(self.energy, MOST))
        if self.health < self.health_when_awake:
            self.sleeping = False
        self.health_when_awake = self.health

    def end_step(self) -> None:
        """The reward: a tenth of the change in health, and one for anything unlocked, however much it was."""
        self.reward = (self.health - self.health_before) / 10
        self.health_before = self.health
        if self.new:
            self.unlocked += len(self.new)
            self.reward += 1.0
        self.total_reward += self.reward
