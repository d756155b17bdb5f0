"""The players of an experiment: scripted nations by name, or classes from a file, optionally with a trait."""

from pathlib import Path

from cohabit.agents.brain import Brain
from cohabit.agents.brains.statecraft import NATIONS
from cohabit.agents.brains.statecraft_class import NationAgent
from cohabit.agents.contract import Agent, adapted
from cohabit.agents.isolated import open_agent
from cohabit.errors import UnknownAsset
from cohabit.lab.design import check_brain
from cohabit.model.suggest import nearest


def check_player(name: str, folder: str) -> None:
    """Raise if there is no such player or it cannot be created."""
    if name in NATIONS:
        return
    path = file_of(name, folder)
    if path is None:
        raise UnknownAsset(
            f"unknown player {name!r}; use {', '.join(sorted(NATIONS))} or FILE.py:ClassName",
            did_you_mean=nearest(name, sorted(NATIONS), 2),
        )
    if not path.is_file():
        raise UnknownAsset(f"there is no file {path.name} in the folder of the experiment file")
    check_brain(brain_of(name, folder))


def open_player(name: str, folder: str) -> Agent:
    """A new player. One from a file has a process of its own."""
    if name in NATIONS:
        return adapted(NationAgent(NATIONS[name](), scripted=True))
    return open_agent(brain_of(name, folder), purpose="")


def brain_of(name: str, folder: str) -> str:
    """The brain of a player from a file: ``FILE.py:Class/TRAIT`` is ``FILE.py:Class?trait=TRAIT`` elsewhere."""
    cls, _, trait = name.partition(".py:")[2].partition("/")
    return str(Brain(str(file_of(name, folder)), cls, options={"trait": trait} if trait else {}))


def file_of(name: str, folder: str) -> Path | None:
    """The file of a player; None for a scripted nation."""
    path, dot, _ = name.partition(".py:")
    return Path(folder, path + ".py") if dot else None
