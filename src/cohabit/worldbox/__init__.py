"""The WorldBox protocol. The registry imports this package, which registers it.

names       permissions, roles, speeds and error codes of the game's bridge, as aliases of ours
commands    whoami, health and others in the shapes that its clients know
world       the game itself as a remote world, with its connector
server      the wire of the bridge, for published clients
cli         ``cohabit worldbox``
"""

from cohabit.model.grant import add_aliases, add_role_aliases
from cohabit.room.commands import declared_in
from cohabit.room.extension import Extension, register
from cohabit.worldbox import commands, names

add_aliases(names.EXTENSION, names.PERMISSIONS)
add_role_aliases(names.ROLES)
register(
    Extension(
        name=names.EXTENSION,
        room_commands=tuple(made for made in declared_in(commands) if made.where == "room"),
        house_commands=tuple(made for made in declared_in(commands) if made.where == "house"),
        tool_prefix=names.PREFIX,
        prefixed=names.PREFIXED,
        speeds=names.SPEEDS,
    )
)
