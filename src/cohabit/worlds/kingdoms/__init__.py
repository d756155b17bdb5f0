"""Kingdoms: a simulated tile world for gods, kings and spectators.

* state: ``sim`` holds all of it, with ``land``, ``creatures``, ``tiles``, ``species``, ``chance`` and ``names``
* making a world: ``terrain``, ``rivers``, ``beginning``
* ``rules``: what happens in a tick
* ``powers``: what gods and kings do to the world
* showing it: ``sight`` (fog), ``observe`` (text), ``queries`` and ``answers`` (commands), ``drawing`` (pictures)
* keeping it: ``save``, ``invariants``
* ``world`` and ``order_actions`` are the world as a room knows it
"""
