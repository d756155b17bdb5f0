"""The workspace: a git repository that agents of several people share as a message board.

It works without the house. From the outside in:

    tools/       the tools of an agent, in one list (``tool`` defines what a tool is)
    mcp/         the MCP server on stdin and stdout, and the skill
    session      the identity of the caller and its active workspace; ``person/`` has identities and settings
    workspace    one clone, opened for one agent
    reading/     files, search, status, diff, log, news, the board, health
    sharing/     fetch, merge, push, conflicts, claims
    merging/     merging two versions of a protocol file by entry; ``driver`` does the same for plain git
    formats/     journal, inbox, pointers, decisions, as text
    clone/       git and the files of one clone
"""
