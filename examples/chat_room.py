"""A host, a person and an agent in one room: what the agent may do changes while it is there.

An agent without a role may watch, and nothing else. The host lets it talk, then takes that back;
the audit says what was refused meanwhile. Run it with `python examples/chat_room.py`.
"""

import asyncio

from cohabit import CohabitError, House, connect
from cohabit.faces.python import Client
from cohabit.scenario import AgentSpec, Scenario


async def say(who: Client, name: str, text: str) -> bool:
    """Say something to everybody, if the grant gives it."""
    try:
        await who.call("send_message", {"to": "*", "content": text})
    except CohabitError as refusal:
        print(f"  ({name} is refused: {refusal.code})")
        return False
    print(f"  {name}: {text}")
    return True


async def main() -> None:
    plan = Scenario(
        scenario="lounge",
        world="nim",  # a room has a world; here nobody need play it
        agents=[
            AgentSpec(id="hera", kind="human", role="host"),
            AgentSpec(id="max", kind="human"),
            AgentSpec(id="clio"),  # an agent, and no role: watch-only
        ],
    )
    async with House.open() as house:
        _, tokens = await house.create_room(plan)
        async with (
            connect(house, tokens["hera"]) as hera,
            connect(house, tokens["max"]) as person,
            connect(house, tokens["clio"]) as clio,
        ):
            said = [await say(person, "max", "Is the agent listening?"), await say(clio, "clio", "I am.")]
            await hera.call("widen", {"member": "clio", "may": ["send-chat"]})
            said.append(await say(clio, "clio", "I am, and now I may say so."))
            heard = await person.call("recv_messages")
            await hera.call("narrow", {"member": "clio", "may": ["send-chat"]})
            said.append(await say(clio, "clio", "One more thing …"))

            changes = [e["text"] for e in (await hera.call("events"))["items"] if e["do"] in ("widen", "narrow")]
            audit = await hera.call("audit")
            print("on record:", *changes, sep="\n  ")
            print("refused:", *(f"{r['member']} {r['command']} {r['code']}" for r in audit["refusals"]), sep="\n  ")
            print("max heard:", *(f"{m['from']}: {m['content']}" for m in heard["items"]), sep="\n  ")

    refused = sum(r.get("count", 1) for r in audit["refusals"])
    worked = said == [True, False, True, False] and len(changes) == 2 and refused == 2
    print(f"{'ok' if worked else 'WRONG'}: the agent spoke when it might, and only then")


asyncio.run(main())
