"""The decision about a call: allow it, or refuse it with a code and a reason."""

from msgspec import Struct

from cohabit.errors import CohabitError, by_code


class Decision(Struct, frozen=True, gc=False):
    """Allow or refuse. ``code`` is the wire code of the refusal, empty if allowed."""

    code: str = ""
    reason: str = ""
    needs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.code


ALLOWED = Decision()


def refusal(decision: Decision) -> CohabitError:
    """The error for a refusal."""
    details = {"needs": list(decision.needs)} if decision.needs else {}
    return by_code({"code": decision.code, "message": decision.reason, **details})
