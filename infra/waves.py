"""In which order new code takes over: what takes a thing in never goes before what can handle it."""

from typing import Final

from infra.settings import FunctionName

CONSUMERS: Final[tuple[FunctionName, ...]] = ("notify", "fulfil", "deliver", "reconcile", "dispatch")
"""First: they work on what others have left for them, also on what only the new code leaves."""

TAKERS: Final[tuple[FunctionName, ...]] = ("ingest", "execute", "webhooks", "read", "authorizer")
"""Then: they take requests. Before the consumers, they would accept what nobody can handle yet."""

WAVES: Final = (CONSUMERS, TAKERS)
