"""What is there and what happened: status, diff, log, news, health, files, search."""
