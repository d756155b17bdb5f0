"""Rooms in several processes. A node is a process with a house that runs some of them: `docs/design/processes.md`."""
