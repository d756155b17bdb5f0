"""The workspace for MCP clients: the protocol, the server on stdin and stdout, the skill."""
