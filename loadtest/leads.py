"""The leads that a storm sends: plain, synthetic, and different for every key and variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadtest.history import hash_of

if TYPE_CHECKING:
    from loadtest.run import RunSettings

# Padding that brings a lead to some 600 bytes of JSON, the size that issue 2 measures a receipt by.
_MESSAGE = (
    "We run four warehouses and are looking for a way to take in orders from partners who send each of them "
    "more than once. Please call in the morning; we would like to see how this behaves under load. " * 2
)

_COMPANIES = ("Alder Freight", "Birch Supplies", "Cedar Retail", "Dogwood Clinics", "Elm Logistics")


def lead(settings: RunSettings, subject: int, variant: int) -> dict[str, str]:
    """The body that the storm sends for the `subject`-th key of the run.

    Args:
        settings: of the run; its id is in the lead, so that what the platform stored can be told apart.
        subject: which key; the same subject is the same body under every tenant.
        variant: 0 is the body that belongs to the key; others are what a reuse of the key sends.
    """
    return {
        "email": f"{settings.key_prefix}{subject}@example.com",
        "name": f"Storm Lead {subject}",
        "company": _COMPANIES[subject % len(_COMPANIES)],
        "message": _MESSAGE if variant == 0 else f"Variant {variant}: {_MESSAGE}",
        "source": "storm",
        "reference": f"{settings.key_prefix}{subject}/{variant}",
    }


def lead_hash(settings: RunSettings, subject: int, variant: int) -> str:
    """SHA-256 (hex) of the canonical JSON of `lead`."""
    digest = hash_of(lead(settings, subject, variant))
    assert digest is not None, "a lead of strings always has a canonical form"
    return digest
