"""A host, a person and an agent in one room. The permissions of the agent change while it is there.

An agent without a role can only watch. The host permits it to send messages, and later revokes that. The audit shows
the calls that were refused. Run it with `python examples/chat_room.py`.
"""

import asyncio

from cohabit import CohabitError, House, connect
from cohabit.faces.python import Client
from cohabit.scenario import AgentSpec, Scenario


async def say(client: Client, name: str, text: str) -> bool:
    """Send a message to all members. Returns whether it was permitted."""
    try:
        await client.call("send_message", {"to": "*", "content": text})
    except CohabitError as refusal:
        print(f"  ({name} was refused: {refusal.code})")
        return False
    print(f"  {name}: {text}")
    return True


async def main() -> None:
    plan = Scenario(
        scenario="lounge",
        world="nim",  # every room has a world, but the members do not have to play it
        agents=[
            AgentSpec(id="hera", kind="human", role="host"),
            AgentSpec(id="max", kind="human"),
            AgentSpec(id="clio"),  # an agent without a role can only watch
        ],
    )
    async with House.open() as house:
        _, tokens = await house.create_room(plan)
        async with (
            connect(house, tokens["hera"]) as hera,
            connect(house, tokens["max"]) as person,
            connect(house, tokens["clio"]) as clio,
        ):
            said = [await say(person, "max", "Is the agent listening?"), await say(clio, "clio", "Yes.")]
            await hera.call("widen", {"member": "clio", "may": ["send-chat"]})
            said.append(await say(clio, "clio", "Yes, and now I can answer."))
            received = await person.call("recv_messages")
            await hera.call("narrow", {"member": "clio", "may": ["send-chat"]})
            said.append(await say(clio, "clio", "One more thing …"))

            changes = [e["text"] for e in (await hera.call("events"))["items"] if e["do"] in ("widen", "narrow")]
            audit = await hera.call("audit", {"kinds": ["refusals"]})
            print("on record:", *changes, sep="\n  ")
            print("refused:", *(f"{r['member']} {r['command']} {r['code']}" for r in audit["lines"]), sep="\n  ")
            print("max received:", *(f"{m['from']}: {m['content']}" for m in received["items"]), sep="\n  ")

    refused = sum(r.get("count", 1) for r in audit["lines"])
    worked = said == [True, False, True, False] and len(changes) == 2 and refused == 2
    print(f"{'ok' if worked else 'WRONG'}: the agent could send messages only while it had permission")


asyncio.run(main())
