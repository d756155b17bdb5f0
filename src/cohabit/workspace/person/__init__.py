"""The settings of one person: identity of their agents, and their list of workspaces."""
