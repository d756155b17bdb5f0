"""A backend that keeps its answers in a folder, by prompt, so that an experiment can be repeated at no cost."""

import os
from hashlib import blake2b
from pathlib import Path

import msgspec

from cohabit.agents.llm.backend import Backend, Completion, Request, WrappedBackend

_encode = msgspec.json.Encoder(order="sorted").encode


class CachedBackend(WrappedBackend):
    """The key is everything that is asked, with the name of the model: never an API key."""

    def __init__(self, backend: Backend, folder: Path) -> None:
        super().__init__(backend)
        self._folder = folder

    async def complete(self, request: Request) -> Completion:
        key = blake2b(self.name.encode() + b"\0" + _encode(request), digest_size=20).hexdigest()
        path = self._folder / f"{key}.json"
        kept = self._read(path)
        if kept is not None:
            used = kept.usage
            return msgspec.structs.replace(kept, usage=msgspec.structs.replace(used, cached=True))
        completion = await self.backend.complete(request)
        self._folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(_encode(completion))
        part.replace(path)
        return completion

    def _read(self, path: Path) -> Completion | None:
        try:
            return msgspec.json.decode(path.read_bytes(), type=Completion)
        except (OSError, msgspec.MsgspecError):
            return None
