"""What the registry says of a tenant to whoever serves it without an API key: receiver and workers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, get_args

from handlers.domain.caller import TENANT_ID
from handlers.domain.errors import CorruptItem
from handlers.domain.json_members import Members
from handlers.domain.metric_catalogue import DETAILED
from handlers.domain.webhook_proof import Proof, Scheme

if TYPE_CHECKING:
    from collections.abc import Mapping

Status = Literal["active", "suspended"]
Method = Literal["PUT", "POST"]

# A source is part of the derived key, between colons, so it holds none. The tenant files are stricter.
SOURCE: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a record goes by HTTP. `url`: https, with `{id}` where the external id goes (`PUT`)."""

    url: str
    method: Method


@dataclass(frozen=True, slots=True)
class IdentityConfig:
    """Where an event's id is (see `webhook_identity`).

    `path`: JMESPath of the id that the header must repeat; None where the header alone is the id.
    `template`: what the id is made of; None for the path alone.
    """

    path: str | None
    header: str | None
    template: str | None


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """One sender of webhooks, all presets expanded.

    `window_seconds`: how long an event's id stands for it. `body_limit_bytes`: the largest body, bytes.
    `destination`: None where the tenant's topic is all that hears of the event.
    """

    proof: Proof
    identity: IdentityConfig
    window_seconds: int
    body_limit_bytes: int
    destination: Destination | None


@dataclass(frozen=True, slots=True)
class TenantConfig:
    """One tenant.

    Attributes:
        webhooks: by source.
        orders_destination: None where orders go to the bus at once.
        detailed_metrics: whether it has its metrics in detail.
    """

    tenant_id: str
    status: Status
    webhooks: Mapping[str, SourceConfig]
    orders_destination: Destination | None
    detailed_metrics: bool = False


class TenantConfigs(Protocol):
    """The registry by tenant id, cached for a minute."""

    @property
    def reads(self) -> int:
        """How many reads of the table were made in the life of this process."""

    def find(self, tenant_id: str) -> TenantConfig | None:
        """What is known of a tenant, or None when there is none; `tenant_id` has the shape of one.

        Raises Unavailable, Refused or CorruptItem.
        """


def partition_key(tenant_id: str) -> str:
    """`tenant#<id>`: where the registry keeps a tenant."""
    return f"tenant#{tenant_id}"


def from_item(item: Mapping[str, Any]) -> TenantConfig:
    """The tenant in a DynamoDB item (attribute values as boto3's client gives them).

    Raises:
        CorruptItem: a part is missing or has another shape; it names the tenant and the attribute.
    """
    tenant_id = item.get("tenantId", {}).get("S", "")
    if not TENANT_ID.fullmatch(tenant_id):
        raise CorruptItem("the registry's entry of an unnamed tenant is malformed: tenantId")
    place = f"the registry's entry of tenant {tenant_id} is malformed"
    attributes = Members(place, {name: value.get("S") for name, value in item.items()})
    status: Status = attributes.word("status", ("active", "suspended"))
    orders = _json(attributes, "orders").members_or_none("destination")
    return TenantConfig(
        tenant_id=tenant_id,
        status=status,
        webhooks=_sources(_json(attributes, "webhooks")),
        orders_destination=None if orders is None else _destination(orders),
        # Nothing is refused for a word of a later release: it is about what is said, not about what is done.
        detailed_metrics=attributes.values.get("metrics") == DETAILED,
    )


def _json(attributes: Members, name: str) -> Members:
    # Entries written by the first release have neither webhooks nor orders.
    text = attributes.text(name) if name in attributes.values else "{}"
    return Members.of_text(text, f"{attributes.place}: {name}")


def _sources(webhooks: Members) -> dict[str, SourceConfig]:
    # A source that only a later release knows how to serve must not stop the tenant's others. Its senders are
    # refused and its events are not delivered (`NotConfigured`) until that release runs.
    named = [name for name in webhooks.values if SOURCE.fullmatch(name)]
    sources = {name: webhooks.members(name) for name in named}
    return {name: _source(members) for name, members in sources.items() if _is_known(members)}


def _is_known(source: Members) -> bool:
    """Whether its words are this release's; what is no word at all is malformed, not unknown."""
    scheme = source.members("proof").text("scheme")
    destination = source.members_or_none("destination")
    method = None if destination is None else destination.text("method")
    return scheme in get_args(Scheme) and (method is None or method in get_args(Method))


def _source(members: Members) -> SourceConfig:
    destination = members.members_or_none("destination")
    return SourceConfig(
        proof=Proof.of(members.members("proof")),
        identity=_identity(members.members("identity")),
        window_seconds=members.whole("windowSeconds", 1),
        body_limit_bytes=members.whole("bodyLimitBytes", 1),
        destination=None if destination is None else _destination(destination),
    )


def _identity(members: Members) -> IdentityConfig:
    path, header = members.text_or_none("path"), members.text_or_none("header")
    if path is None:
        if header is None:
            raise members.corrupt("path")
        # A template would have nothing to fill it with.
        return IdentityConfig(None, header, None)
    return IdentityConfig(path, header, members.text_or_none("template"))


def _destination(members: Members) -> Destination:
    url = members.text("url")
    if not url.startswith("https://"):
        raise members.corrupt("url")
    return Destination(url, members.word("method", ("PUT", "POST")))
