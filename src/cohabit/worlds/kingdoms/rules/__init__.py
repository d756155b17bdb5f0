"""The rules that every tick applies. ``tick`` calls them in order; each rule is a function of the simulation.

* creatures: ``life``, ``walk``, ``neighbours``, ``battle``, ``wildlife``
* the land: ``vegetation``
* cities: ``cities``, ``city_life``, ``economy``, ``settlers``
* kingdoms: ``realms``, ``diplomacy``, ``armies``, ``siege``

Rules use whole numbers and ``chance`` only, so that a world is the same on every machine. The important constants are
listed in ``docs/kingdoms-rules.md``, and a test compares the numbers. A chance is a pair: ``1, 4`` is one in four.
"""
