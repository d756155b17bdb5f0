"""Starbound, the desktop game, as a remote world. The registry reaches this package by name.

actions     what a player can do: one table for the room and for the adapter
wire        the values on the wire between adapter, bridge and game, with their limits, and observations
bridge      commands that wait for the game, and their results
server      the bridge over HTTP
connector   the link of a room to a bridge, in this process or at an address
world       the game as a remote world
adapter     ``StarboundAdapter``: the game for one script, over HTTP
simulated   our own planet world in the place of the game
rcon        the remote console of a game server
cli         ``cohabit starbound``
mod/        the mod for OpenStarbound that plays the game's side
"""
