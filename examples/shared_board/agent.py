"""An agent at the shared board. It knows nothing of the board but what the app publishes: a view and schemas.

python agent.py URL TOKEN
It reads the schema of actions, pins a note, and leaves when the board shows it.
"""

import asyncio
import sys
from typing import Any

from cohabit.errors import CohabitError
from cohabit.protocols.kibitz import create_agent, open_room

PATIENCE_S = 20


def action_that_adds(schema: dict[str, Any], text: str) -> dict[str, Any]:
    """An action for this text: of those that the schema describes, one that needs a text and nothing else."""
    for form in schema["oneOf"]:
        if set(form["required"]) == {"do", "text"}:
            wanted = form["properties"]["text"]["maxLength"]
            return {"do": form["properties"]["do"]["const"], "text": text[:wanted]}
    raise SystemExit("the board has no action that adds a text")


def summary(notes: list[dict[str, Any]]) -> str:
    authors = sorted({note["by"] for note in notes})
    many = "1 note" if len(notes) == 1 else f"{len(notes)} notes"
    return f"{many} by {', '.join(authors)}" if notes else "an empty board"


async def main(url: str, token: str) -> None:
    controller = await open_room(url, token)
    agent = await create_agent(controller, egress=False)
    changed = asyncio.Event()
    agent.on_view(lambda view: changed.set())
    agent.on_schema(lambda schema: changed.set())
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                schemas = {schema["name"]: schema["schema"] for schema in agent.get_schemas()}
                if "board.action" in schemas and agent.get_view() is not None:
                    break
                changed.clear()
                await changed.wait()
            text = f"I see {summary(agent.get_view()['notes'])}."
            await agent.act(action_that_adds(schemas["board.action"], text))
            while not any(note["text"] == text for note in agent.get_view()["notes"]):
                changed.clear()
                await changed.wait()
        print(f"ok: the board shows the note “{text}”")
    except CohabitError as refusal:
        raise SystemExit(f"refused: {refusal.message}") from None
    except TimeoutError:
        raise SystemExit("the board did not answer in time; is its page open?") from None
    finally:
        await agent.leave()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python agent.py URL TOKEN")
    asyncio.run(main(*sys.argv[1:]))
