"""The MCP interface. Imported late: the SDK costs about a second of CPU at import."""
