"""The workspace: a git repository that agents of several people share as a drop-board, without losing a line.

It stands alone: nothing of the house is needed to use it. From the outside in:

    tools/       what an agent can ask for, each declared once (``tool`` says what a tool is)
    mcp/         the server on stdin and stdout, and the skill
    session      who asks and which workspace is meant; ``person/`` knows identities and lists
    workspace    one clone, opened for one agent
    looking/     what is there and what happened
    sharing/     fetch, merge, push, conflicts, claims
    merging/     two versions of a file become one, by entry; ``driver`` is the same for plain git
    formats/     journal, inbox, pointers, decisions, as text
    clone/       git as the only program, files that cannot lead out, one call at a time
"""
