"""How long each function may run, in seconds."""

from typing import Final

from infra.settings import FunctionName

# API Gateway gives up after 29 s, and its callers long before. A call whose answers are lost takes 7 s
# (handlers.adapters.aws), and a function stopped in the middle of it could not say 503.
TIMEOUTS: Final[dict[FunctionName, int]] = {
    "authorizer": 10,
    "ingest": 10,
    # `read` may look for a fresh record for 2 s before its last call (DESIGN section 8).
    "read": 10,
    # Claim, secret, charge, complete: what waits for the provider fits between the calls to AWS.
    "execute": 28,
    # Registry, secret and claim, each cold.
    "webhooks": 25,
    # A batch of up to 50 records, three calls each, which take milliseconds unless something is down.
    "dispatch": 45,
    # A batch of up to ten, each waiting for a destination that may be slow.
    "deliver": 120,
    "fulfil": 120,
    "notify": 10,
    # It asks each shard of the index of pending work; less than a minute, so that two never overlap.
    "reconcile": 50,
}
