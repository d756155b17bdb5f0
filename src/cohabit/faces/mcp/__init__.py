"""The MCP face. Imported late: the SDK costs about a second of CPU at import."""
