"""An MCP tool call, compared with a bare low-level server of the official SDK that gives the same answer."""

from contextlib import ExitStack
from typing import Any

from bench.common import Child, child, quotients, take_turns
from bench.report import Report

HOW = """
`tools/call` over HTTP in the 2026-07-28 era, one kept-alive connection on a plain blocking socket; CPU
time of the server per call. The bare servers have 20 tools that immediately return the same result as ours. There
are three: with the SDK's defaults; with its schema hook, so they do not list their tools before each call with
arguments; and with the hook and `json_response`, the SDK's fastest configuration. Ours also authenticates,
decides, validates, runs and (`send_message`) records.
""".strip()
BARE = {"default": "bare, SDK defaults", "hook": "bare, schema hook", "json": "bare, schema hook and json_response"}


class Calling:
    """One client of one server."""

    def __init__(self, server: Child, client: Child, times: int) -> None:
        self.server, self.client, self.times = server, client, times
        self.p50: list[float] = []

    def round(self) -> float:
        before = self.server.cpu
        self.p50.append(self.client.ask("round", times=self.times)["p50"])
        return (self.server.cpu - before) / self.times * 1e6


def run(quick: bool) -> Report:
    times, rounds = (150, 2) if quick else (600, 9)
    report = Report("mcp-call", "An MCP tool call", HOW)
    calls: dict[str, dict[str, Any]] = {
        "whoami": {}, "view": {}, "send_message": {"to": "m1", "content": "hello there"}
    }  # fmt: skip
    with child("bench.servers:house", 0, members=2, world="nim", mcp=True) as ours:
        url, token = ours.hello["url"], ours.hello["tokens"][0]
        for tool, args in calls.items():
            with ExitStack() as stack:

                def client(url: str, path: str, tool: str = tool, args: Any = args, stack: ExitStack = stack) -> Child:
                    made = child("bench.clients:Posting", 1, url=url, path=path, token=token, tool=tool, args=args)
                    return stack.enter_context(made)

                mine = client(url, "/mcp/bench-0?profile=full")
                result = mine.ask("answer")["result"]
                sides = {"ours": Calling(ours, mine, times)}
                for how in BARE:
                    bare = stack.enter_context(child("bench.servers:mcp", 0, how=how, result=result))
                    sides[how] = Calling(bare, client(bare.hello["url"], "/mcp"), times)
                found = take_turns({name: side.round for name, side in sides.items()}, rounds)
            for name, side in sides.items():
                words = f"{tool}, {BARE.get(name, 'ours')}"
                report.measure(f"{words}: server CPU", found[name], "µs a call")
                report.measure(f"{words}: p50", side.p50[1:], "µs")
            for how, aim in (("default", None), ("hook", 1.3), ("json", None)):
                over = quotients(found["ours"], found[how])
                report.ratio(f"mcp-call: {tool} over {BARE[how]}", over, aim, "at most")
    return report
