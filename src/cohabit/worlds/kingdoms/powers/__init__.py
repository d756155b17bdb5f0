"""Powers: what gods, and kings on their own land, can do to the world.

One module per family (``spawns``, ``weather``, ``disasters``, ``blessings``, ``curses``, ``terraform``, ``orders``,
``laws``) lists its powers in ``POWERS``; ``table`` collects them. ``storms`` has the powers that continue by
themselves. ``power`` says what a power is, ``targets`` what it reaches, ``ground`` how it changes the map, and
``casting`` how it is used.
"""
