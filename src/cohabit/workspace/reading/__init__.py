"""Reading a workspace: files, search, status, diff, log, news, the board, health."""
