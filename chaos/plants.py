"""Faults of the product, planted on purpose: chaos has to find each of them, or it finds nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Plant:
    """One change of the code that `functions` run: in `file`, the text `good` becomes `bad`."""

    functions: tuple[str, ...]
    file: str
    good: str
    bad: str

    def put(self, name: str, content: bytes) -> bytes:
        """The content of a file with the plant in it; of any other file, as it is.

        Raises:
            ValueError: the text is not there, or more than once.
        """
        if name != self.file:
            return content
        if content.count(self.good.encode()) != 1:
            raise ValueError(f"{name} has changed: {self.good!r} has to be in it once")
        return content.replace(self.good.encode(), self.bad.encode())


PLANTS: Final = {
    # Every claim is won, as by a read that came too early.
    "unconditional-put": Plant(
        ("ingest", "execute"),
        "handlers/adapters/receipts.py",
        'f"{_NOBODY} OR (',
        'f"{_NOBODY} OR attribute_exists(pk) OR (',
    ),
    # The answer of a write is lost, the SDK sends it again, and takes its own receipt for another's.
    "own-write-unknown": Plant(
        ("ingest", "execute"),
        "handlers/domain/protocol.py",
        "    if existing.owner == claim.owner:\n        return Won()\n",
        "",
    ),
    # A record that comes a second time is taken for done, though its event may not be out.
    "second-delivery-dropped": Plant(
        ("dispatch",),
        "handlers/dispatch.py",
        "    stage = dependencies.settings.stage\n    follows",
        "    if status is not None:\n        return trace.republished\n"
        "    stage = dependencies.settings.stage\n    follows",
    ),
    # A record that met an outage is said to be done, so that the stream does not bring it again.
    "outage-acknowledged": Plant(
        ("dispatch",),
        "handlers/dispatch.py",
        "in its place.\n        trace.failed(error)\n        raise\n",
        "in its place.\n        trace.failed(error)\n",
    ),
    # `notify` says that it has published, and has not.
    "notify-forgets": Plant(
        ("notify",),
        "handlers/notify.py",
        "        dependencies.topics.publish(notice, notice.event)\n",
        "",
    ),
}
"""By the name that `--plant` takes."""
