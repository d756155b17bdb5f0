"""Tells if a name or a file is that of an agent, of a feature or of a world, without running the file."""

import ast
from pathlib import Path

from cohabit.adapter import MEMBERS as ADAPTER_MEMBERS
from cohabit.agents.brain import is_command, parse_brain
from cohabit.errors import BadArgs
from cohabit.registry import is_file_source, known_worlds, knows_brain, split_source

AGENT_METHODS = {"decide", "think"}


def is_agent(source: str) -> bool:
    """True if it is to be checked as an agent. A source that may be a world is checked as one."""
    if not is_command(source) and is_file_source(source.partition("?")[0]):
        brain = parse_brain(source)
        return _has_agent(Path(brain.kind), brain.target) or is_nation(source)
    try:
        return source not in known_worlds() and knows_brain(parse_brain(source))
    except BadArgs:
        return False


def is_feature(source: str) -> bool:
    """True if it is to be checked as a feature of rooms."""
    file, name = split_source(source)
    classes = _classes_in(file) if is_file_source(source) else {}
    if not classes and is_file_source(source) and file.is_file():  # perhaps with a mistake in its syntax
        return b"(Feature)" in file.read_bytes()
    return any("Feature" in _base_names(node) for known, node in classes.items() if not name or known == name)


def is_nation(source: str) -> bool:
    """True if it is a class that plays Statecraft by its input object, with ``act``. Adapters have that, too."""
    brain = parse_brain(source)
    classes = _classes_in(Path(brain.kind)) if brain.is_file else {}
    if brain.target not in classes:
        return False
    methods = _methods_of(classes[brain.target], classes)
    return "act" in methods and not methods & {*AGENT_METHODS, *ADAPTER_MEMBERS} - {"act"}


def _has_agent(path: Path, name: str) -> bool:
    """True if the class with this name, or in a file without it any class that could be meant, is an agent."""
    classes = _classes_in(path)
    if name in classes:
        return _decides(classes[name], classes)
    agents = [node for node in classes.values() if _decides(node, classes)]
    return bool(agents) and not any(_base_names(node) & {"World"} for node in classes.values())


def _classes_in(path: Path) -> dict[str, ast.ClassDef]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _decides(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    return bool(_methods_of(node, classes) & AGENT_METHODS)


def _methods_of(node: ast.ClassDef, classes: dict[str, ast.ClassDef], depth: int = 0) -> set[str]:
    """Its methods, with those of its bases in the same file."""
    found = {each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    if depth < len(classes):  # a class can name itself as its base
        for base in _base_names(node) & classes.keys():
            found |= _methods_of(classes[base], classes, depth + 1)
    return found


def _base_names(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).rpartition(".")[2] for base in node.bases}
