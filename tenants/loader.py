"""Reads a directory of tenant files and answers with every fault of every file, or the tenants."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from tenants.document import Document, parse
from tenants.document import Path as Field
from tenants.errors import Fault, TenantFileError
from tenants.models import Tenant, Tier, TiersFile
from tenants.registry import MAX_CONTEXT_BYTES, context_bytes
from tenants.rules import follows, locate, rule_of
from tenants.scope import Place, Scope

TIERS_FILE: Final = "tiers.yaml"


@dataclass(frozen=True, slots=True)
class TenantSet:
    """Tenants sorted by id, and every tier by name (used or not)."""

    tenants: tuple[Tenant, ...]
    tiers: Mapping[str, Tier]

    def tier_of(self, tenant: Tenant) -> Tier:
        """The tier that the tenant's file names."""
        return self.tiers[tenant.tier]


def load(
    directory: Path, stage: str, *, known_stages: frozenset[str] | None = None, place: Place | None = None
) -> TenantSet:
    """Read all files of `directory`; the tenants of `stage` only.

    With `known_stages`, a file that names another is wrong; with `place` (of `stage`), so is a tenant of the
    stage whose queue or key is in another account or region. Raises TenantFileError with every fault of
    every file, those of other stages' tenants too: a wrong file must stop an update wherever it would have
    counted.
    """
    everything = _load(directory, Scope(known_stages, stage, place))
    here = tuple(tenant for tenant in everything.tenants if stage in tenant.stages)
    return TenantSet(here, everything.tiers)


def load_all(directory: Path, *, known_stages: frozenset[str] | None = None) -> TenantSet:
    """Read all files of `directory`, whatever their stages; raises TenantFileError like `load`."""
    return _load(directory, Scope(known_stages))


def _load(directory: Path, scope: Scope) -> TenantSet:
    if not directory.is_dir():
        raise TenantFileError([Fault(str(directory), 1, "file", "must be a directory of tenant files")])
    faults: list[Fault] = [
        Fault(str(path), 1, "file", "must end in .yaml, or it would be ignored")
        for path in directory.glob("*.yml")
    ]
    tiers, known = _read_tiers(directory / TIERS_FILE, faults)
    paths = sorted(path for path in directory.glob("*.yaml") if path.name != TIERS_FILE)
    read = [_read_tenant(path.stem, _parse_file(path), tiers, known, scope, faults) for path in paths]
    if faults:
        raise TenantFileError(faults)
    tenants = sorted((tenant for tenant in read if tenant is not None), key=lambda tenant: tenant.id)
    return TenantSet(tuple(tenants), tiers)


def check_text(path: Path, text: str, *, known_stages: frozenset[str] | None = None) -> Tenant:
    """The tenant that `path` would hold if its content were `text`, judged by the tiers beside it.

    Raises TenantFileError with the faults of the text and of the tiers.
    """
    faults: list[Fault] = []
    tiers, known = _read_tiers(path.parent / TIERS_FILE, faults)
    tenant = _read_tenant(path.stem, parse(str(path), text), tiers, known, Scope(known_stages), faults)
    if tenant is None or faults:
        raise TenantFileError(faults)
    return tenant


def _read_tiers(path: Path, faults: list[Fault]) -> tuple[dict[str, Tier], frozenset[str] | None]:
    """The valid tiers, and the names that tenants may use (None where the file tells none).

    The names of faulty tiers count too, so that tenants are not blamed for the tiers' faults.
    """
    document = _parse_file(path)
    tiers: dict[str, Tier] = {}
    try:
        if document.data is not None:
            parsed = TiersFile.model_validate(document.data, by_alias=True, by_name=False)
            tiers = {name: Tier(name=name, **dict(limits)) for name, limits in parsed.root.items()}
    except ValidationError as error:
        _note(error, document)
    faults.extend(document.faults)
    return tiers, frozenset(document.data) if isinstance(document.data, dict) else None


def _read_tenant(
    stem: str,
    document: Document,
    tiers: Mapping[str, Tier],
    known: frozenset[str] | None,
    scope: Scope,
    faults: list[Fault],
) -> Tenant | None:
    tenant: Tenant | None = None
    try:
        if document.data is not None:
            context = {"tiers": known, "stem": stem}
            tenant = Tenant.model_validate(document.data, by_alias=True, by_name=False, context=context)
    except ValidationError as error:
        _note(error, document)
    if tenant is not None:
        scope.check(tenant, document)
    if tenant is not None and tenant.tier in tiers:
        _check_against_tier(tenant, tiers[tenant.tier], document)
    faults.extend(document.faults)
    return tenant


def _check_against_tier(tenant: Tenant, tier: Tier, document: Document) -> None:
    for place, limit in _own_limits(tenant):
        if limit is not None and limit > tier.body_limit_bytes:
            document.fault(
                ("operations", *place, "bodyLimitBytes"),
                f"must be at most the tier's {tier.body_limit_bytes} (is {limit})",
            )
    for index, key in enumerate(tenant.keys):
        size = context_bytes(tenant, tier, key)
        if size > MAX_CONTEXT_BYTES:
            document.fault(
                ("keys", index),
                f"must leave the authorizer's context at most {MAX_CONTEXT_BYTES} bytes (is {size}): "
                "list fewer origins, or shorten what `operations` says",
            )


def _own_limits(tenant: Tenant) -> list[tuple[Field, int | None]]:
    operations = tenant.operations
    payments = operations.payments
    return [
        (("leads",), operations.leads.body_limit_bytes),
        (("orders",), operations.orders.body_limit_bytes),
        (("payments",), None if payments is None else payments.body_limit_bytes),
        (("appointments",), operations.appointments.body_limit_bytes),
        *(
            (("webhooks", "sources", name), source.body_limit_bytes)
            for name, source in operations.webhooks.sources.items()
        ),
    ]


def _parse_file(path: Path) -> Document:
    try:
        return parse(str(path), path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        rule = "is missing"
    except UnicodeDecodeError as error:
        rule = f"must be UTF-8 (byte {error.start} is not)"
    except OSError as error:
        rule = f"cannot be read ({error.strerror})"
    return Document(str(path), faults=[Fault(str(path), 1, "file", rule)])


def _note(error: ValidationError, document: Document) -> None:
    details = error.errors(include_url=False)
    for detail in details:
        path = locate(detail, document)
        if path not in document.unread and not follows(detail, details):
            document.fault(path, rule_of(detail))
