"""The workspace for MCP clients: protocol, server on stdin and stdout, skill."""
