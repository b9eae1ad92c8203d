"""How the local platform of one home is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Status:
    """How the platform of one home is: `form_url` and `stand_in_url` are None where none is served."""

    running: bool
    complete: bool
    """It runs, and the last `up` came to its end."""
    unfinished: str | None
    """What to say if it runs and is not complete."""
    endpoint_url: str | None
    api_url: str | None
    form_url: str | None
    stand_in_url: str | None
    resources: int
    tenants: tuple[str, ...]
