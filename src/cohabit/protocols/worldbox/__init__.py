"""The WorldBox protocol. The registry imports this package, which adds its names.

names       permissions, roles, speeds and error codes of the game's bridge, as aliases of ours
protocol    the feature of rooms that speak it
commands    whoami, health and others in the shapes that its clients know
world       the game itself as a remote world, with its connector
server      the wire of the bridge, for published clients
cli         ``cohabit worldbox``
"""

from cohabit.model.grant import add_aliases, add_role_aliases
from cohabit.protocols.worldbox import names

add_aliases(names.NAME, names.PERMISSIONS)
add_role_aliases(names.ROLES)
