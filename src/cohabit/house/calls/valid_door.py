"""The door of a house of a cluster: shut while the house may answer nobody."""

from typing import Any

from cohabit.house.calls.context import HouseContext, Services
from cohabit.house.calls.door import Door
from cohabit.house.overload import OverloadLog
from cohabit.house.running.calls import Call, Deliver
from cohabit.house.running.egress import measured
from cohabit.house.store.validity import Validity
from cohabit.model.identity import Credential


class ValidDoor(Door):
    """Raises BUSY while the house is not valid. That replies do not leave either is checked where they are sent."""

    def __init__(self, services: Services, overload: OverloadLog, validity: Validity) -> None:
        super().__init__(services, overload)
        self._validity = validity

    def identify(self, token: str | None, room: str | None = None, command: str = "") -> Credential:
        self._validity.check()
        return super().identify(token, room, command)

    def decide(self, target: HouseContext, at: int) -> None:
        self._validity.check()
        super().decide(target, at)

    def begin(
        self,
        credential: Credential,
        room: str | None,
        name: str,
        args: Any = None,
        key: str | None = None,
        deliver: Deliver = measured,
        watching: bool = False,
    ) -> Call:
        self._validity.check()
        return super().begin(credential, room, name, args, key, deliver, watching)
