"""The CRM: one entity for each external id, however often it is written."""

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from ops.local.stand_in.answer import Answer, Request, hash_of


@dataclass
class Entity:
    """What was written under one id. `key` is None where the path is the id (PUT). Times: seconds, epoch."""

    host: str
    target: str
    key: str | None
    document: Any
    writes: int
    created_at: float
    written_at: float
    body_hashes: list[str] = field(default_factory=list)


class Entities:
    """Every entity of every host. Safe for threads."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._entities: dict[tuple[str, str, str | None], Entity] = {}

    def put(self, request: Request) -> Answer:
        """Write the entity that the path names: 201 if it is new, 200 after that. Raises BadRequest."""
        return self._write(request, None, overwrite=True)

    def post(self, request: Request) -> Answer:
        """Write the entity that the key names; without a key each call makes one. Raises BadRequest.

        A known key's document stays as it was first written.
        """
        return self._write(request, request.key or f"none-{uuid.uuid4().hex}", overwrite=False)

    def get(self, request: Request) -> Answer:
        """What was last put at the path."""
        with self._lock:
            entity = self._entities.get((request.host, request.target, None))
            return Answer(404, {"error": "not found"}) if entity is None else Answer(200, entity.document)

    def documents(self) -> list[dict[str, Any]]:
        """Every entity, oldest first: its id and document, and how often and with how many bodies written."""
        with self._lock:
            return [
                {
                    "host": one.host,
                    "path": one.target,
                    "key": one.key,
                    "writes": one.writes,
                    "bodies": len(one.body_hashes),
                    "createdAt": one.created_at,
                    "writtenAt": one.written_at,
                    "document": one.document,
                }
                for one in self._entities.values()
            ]

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._entities.clear()

    def saved(self) -> list[dict[str, Any]]:
        """What `restore` takes."""
        with self._lock:
            return [asdict(entity) for entity in self._entities.values()]

    def restore(self, saved: list[dict[str, Any]]) -> None:
        """Take over what `saved` gave."""
        with self._lock:
            for each in saved:
                self._entities[each["host"], each["target"], each["key"]] = Entity(**each)

    def _write(self, request: Request, key: str | None, *, overwrite: bool) -> Answer:
        document = request.document()
        body_hash, now = hash_of(document), self._now()
        with self._lock:
            identity = (request.host, request.target, key)
            known = self._entities.get(identity)
            if known is None:
                entity = Entity(request.host, request.target, key, document, 1, now, now, [body_hash])
                self._entities[identity] = entity
                return Answer(201, {"created": True})
            known.writes += 1
            known.written_at = now
            if overwrite:
                known.document = document
            if body_hash not in known.body_hashes:
                known.body_hashes.append(body_hash)
            return Answer(200, {"created": False})
