"""Whether a name or a file is that of an agent or of a world, found without running the file."""

import ast
from pathlib import Path

from cohabit.agents.brain import parse_brain
from cohabit.errors import BadArgs
from cohabit.registry import is_file_source, known_worlds, knows_brain

AGENT_METHODS = {"decide", "think"}


def is_agent(source: str) -> bool:
    """Whether to check it as an agent. What may be a world is checked as one."""
    if is_file_source(source.partition("?")[0]):
        brain = parse_brain(source)
        return _has_agent(Path(brain.kind), brain.target)
    try:
        return source not in known_worlds() and knows_brain(parse_brain(source))
    except BadArgs:
        return False


def _has_agent(path: Path, name: str) -> bool:
    """Whether the class with this name, or in a file without it any class that could be meant, is an agent."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if name in classes:
        return _decides(classes[name], classes)
    agents = [node for node in classes.values() if _decides(node, classes)]
    return bool(agents) and not any(_base_names(node) & {"World"} for node in classes.values())


def _decides(node: ast.ClassDef, classes: dict[str, ast.ClassDef], depth: int = 0) -> bool:
    own = {each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    if own & AGENT_METHODS:
        return True
    bases = [classes[base] for base in _base_names(node) if base in classes]
    return depth < len(classes) and any(_decides(base, classes, depth + 1) for base in bases)


def _base_names(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).rpartition(".")[2] for base in node.bases}
