"""A backend that keeps its answers in a folder, by prompt, so that an experiment can be repeated at no cost."""

import os
from hashlib import blake2b
from pathlib import Path

import msgspec

from cohabit.agents.contract import AnswerCache
from cohabit.agents.llm.backend import Backend, Completion, Request, WrappedBackend

_encode = msgspec.json.Encoder(order="sorted").encode


class CacheFolder:
    """A file for each answer."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> bytes | None:
        try:
            return (self._folder / f"{key}.json").read_bytes()
        except OSError:
            return None

    def put(self, key: str, answer: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        part = self._folder / f"{key}.{os.getpid()}.part"
        part.write_bytes(answer)
        part.replace(self._folder / f"{key}.json")


class CachedBackend(WrappedBackend):
    """The key is everything that is asked, with the name of the model: never an API key."""

    def __init__(self, backend: Backend, cache: Path | AnswerCache) -> None:
        super().__init__(backend)
        self._cache = CacheFolder(cache) if isinstance(cache, Path) else cache

    async def complete(self, request: Request) -> Completion:
        key = blake2b(self.name.encode() + b"\0" + _encode(request), digest_size=20).hexdigest()
        kept = self._read(key)
        if kept is not None:
            used = kept.usage
            return msgspec.structs.replace(kept, usage=msgspec.structs.replace(used, cached=True))
        completion = await self.backend.complete(request)
        self._cache.put(key, _encode(completion))
        return completion

    def _read(self, key: str) -> Completion | None:
        kept = self._cache.get(key)
        try:
            return msgspec.json.decode(kept, type=Completion) if kept is not None else None
        except msgspec.MsgspecError:
            return None
