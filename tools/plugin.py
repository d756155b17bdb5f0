"""Write the files that describe the workspace tools: the server's tool list, the skill, the plugin, the marketplace
and the bundle.

python tools/plugin.py           write the files
python tools/plugin.py --check   exit 1 if one is out of date

The skill's text is src/cohabit/workspace/mcp/skill.md; names, versions and tools come from the code. Do not edit the
written files.
"""

import json
from typing import Any, Final

import generated

from cohabit import __version__
from cohabit.workspace.mcp import listing
from cohabit.workspace.mcp.skill import NAME as SKILL
from cohabit.workspace.mcp.skill import skill
from cohabit.workspace.tools import tools

PLUGIN: Final = "cohabit"
SERVER: Final = "workspace"
"""The server's key. It is not the plugin's name, because clients show both in front of every tool."""
AUTHOR: Final = {"name": "The Cohabit authors"}
DESCRIPTION: Final = (
    "Agents of several people on one git repository: journal, inbox, drafts and decisions, merged by entry."
)
KEYWORDS: Final = ["agents", "collaboration", "git", "mcp", "multi-agent"]
COMMAND: Final = "uvx"
ARGS: Final = ["--from", "${CLAUDE_PLUGIN_ROOT}", "cohabit-workspace"]
"""The plugin is this whole repository. uv installs the program from it, so nothing else has to be installed."""
IDENTITY: Final = {
    "agent_id": ("Agent id", "Your name and this client, for example ann-cowork: lower-case letters, digits and '-'."),
    "agent_name": ("Your name", "Stands in the journal and in commits."),
    "agent_email": ("Your e-mail address", "Stands in commits."),
}
ENTRY: Final = '''\
"""Starts the server with what is in this bundle alone: nothing is installed, and nothing is downloaded."""

import platform
import sys
from pathlib import Path

LIBRARY = Path(__file__).resolve().parent / "lib"
RUNTIME = f"{sys.implementation.cache_tag}-{sys.platform}-{platform.machine()}"
"""One library is compiled, so the bundle has it once for each Python and platform that it supports."""


def main() -> int:
    if not (LIBRARY / RUNTIME).is_dir():
        there = ", ".join(sorted(found.name for found in LIBRARY.iterdir() if found.name.startswith("cpython-")))
        sys.stderr.write(f"This bundle has no libraries for {RUNTIME}. It has them for: {there}.\\n")
        return 1
    sys.path[:0] = [str(LIBRARY), str(LIBRARY / RUNTIME)]
    from cohabit.workspace.__main__ import main as serve

    return serve([])


if __name__ == "__main__":
    sys.exit(main())
'''


def plugin() -> str:
    """The plugin: the server and, in the folder ``skills``, the skill."""
    return _json(
        {
            "name": PLUGIN,
            "version": __version__,
            "description": DESCRIPTION,
            "author": AUTHOR,
            "license": "MIT",
            "keywords": KEYWORDS,
            "mcpServers": {SERVER: {"command": COMMAND, "args": ARGS}},
        }
    )


def marketplace() -> str:
    """This repository as a marketplace for the plugin."""
    entry = {"name": PLUGIN, "source": "./", "description": DESCRIPTION, "version": __version__}
    about = {"description": "Cohabit: several AI agents, and people, in the same world."}
    return _json({"name": PLUGIN, "owner": AUTHOR, "metadata": about, "plugins": [entry]})


def bundle() -> str:
    """The bundle (MCPB), for clients without plugins. ``tools/bundle.py`` puts the program into it."""
    variables = {f"COHABIT_{field.upper()}": f"${{user_config.{field}}}" for field in IDENTITY}
    return _json(
        {
            "manifest_version": "0.4",
            "name": "cohabit-workspace",
            "display_name": "Cohabit workspace",
            "version": __version__,
            "description": DESCRIPTION,
            "author": AUTHOR,
            "server": {
                "type": "python",
                "entry_point": "server/main.py",
                "mcp_config": {"command": "python3", "args": ["${__dirname}/server/main.py"], "env": variables},
            },
            "tools": [{"name": tool.name, "description": tool.summary} for tool in tools().values()],
            "keywords": KEYWORDS,
            "license": "MIT",
            "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": ">=3.11"}},
            "user_config": {
                field: {"type": "string", "title": title, "description": words, "required": True}
                for field, (title, words) in IDENTITY.items()
            },
        }
    )


FILES: Final[generated.Files] = {
    "src/cohabit/workspace/mcp/listing.json": listing.made,
    f"skills/{SKILL}/SKILL.md": skill,
    ".claude-plugin/plugin.json": plugin,
    ".claude-plugin/marketplace.json": marketplace,
    "mcpb/manifest.json": bundle,
    "mcpb/server/main.py": lambda: ENTRY,
}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    raise SystemExit(generated.run(FILES, "tools/plugin.py"))
