"""``cohabit serve --workers``: the process in front, and those that run the rooms."""
