"""A port for a program that must be told which one to use."""

import random
import socket

NOT_FOR_CONNECTIONS = range(20_000, 30_000)
"""Below the ports that the system gives to connections: a port from here stays free until the program listens on it."""


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    chance = random.SystemRandom()  # the other processes of the tests choose as well
    while True:
        port = chance.choice(NOT_FOR_CONNECTIONS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
