"""Reads what of a run is outside the platform: from the stand-in of provider and CRM, where there is one."""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import boto3
import httpx

from loadtest.history import hash_of
from loadtest.outside import Charge, Entity
from loadtest.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from loadtest.target import Target

_Found = TypeVar("_Found")

_ANSWER_SECONDS = 30.0
# Characters that are asked for at a time, and the most that one charge or entity may have: a document of the
# platform is 256 KiB at most.
_CHUNK, _LARGEST = 1 << 16, 1 << 21
# Between two elements of a list.
_SEPARATORS: Final = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class Telling:
    """What the stand-in tells, as `loadtest.outside.Outside` is: read once, one at a time, as it comes.

    Taking from `charges` or `entities` raises TargetError where the stand-in does not answer as one.
    """

    charges: Iterator[Charge]
    entities: Iterator[Entity]
    destinations: Mapping[tuple[str, str], str]

    def check(self) -> None:
        """Take everything, and keep nothing."""
        for one in (self.charges, self.entities):
            deque(one, maxlen=0)


def read(target: Target, tenants: Iterable[str], mark: str) -> Telling | None:
    """What bears the run's mark outside; None on a stage without a stand-in, where nobody can tell.

    Memory: of one charge or entity, however many there are.

    Args:
        tenants: ids of the run's. mark: the run's key prefix.

    Raises:
        TargetError: the stand-in does not answer as one, when its things are taken.
        botocore.exceptions.ClientError, BotoCoreError: the tenants' settings cannot be read.
    """
    url = target.stand_in_url
    if url is None:
        return None
    return Telling(
        charges=_each(url, "charges", lambda one: mark in str(one.get("reference")), _charge),
        entities=_each(url, "upserts", lambda one: mark in json.dumps(one), _entity),
        destinations=dict(_destinations(target, frozenset(tenants))),
    )


def _each(
    url: str,
    what: str,
    of_the_run: Callable[[dict[str, Any]], bool],
    made: Callable[[dict[str, Any]], _Found],
) -> Iterator[_Found]:
    try:
        # It is on loopback: no proxy of the environment may come between.
        with (
            httpx.Client(timeout=_ANSWER_SECONDS, trust_env=False) as client,
            client.stream("GET", f"{url}/_stand-in/{what}") as answer,
        ):
            for one in elements(answer.raise_for_status().iter_text(_CHUNK), what):
                if of_the_run(one):
                    yield made(one)
    except (httpx.HTTPError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise TargetError(f"the stand-in at {url} does not tell its {what}: {error!r}") from error


def elements(chunks: Iterable[str], name: str) -> Iterator[Any]:
    """The elements of the list that is the last member, called `name`, of an object in JSON.

    The members before it must not hold its name. Raises ValueError where the text is something else.
    """
    rest = iter(chunks)
    text, at = "", 0
    while not (opening := re.search(rf'"{re.escape(name)}"\s*:\s*\[', text)):
        text = _longer(text, rest)
    text = text[opening.end() :]
    decoder = json.JSONDecoder()
    while True:
        at = _SEPARATORS.match(text, at).end()  # type: ignore[union-attr] # it matches nothing, too
        if text[at : at + 1] == "]":
            if (text[at + 1 :] + "".join(rest)).strip() != "}":
                raise ValueError(f"something follows the {name}")
            return
        try:
            found, at = decoder.raw_decode(text, at)
        except ValueError:
            text, at = _longer(text[at:], rest), 0
        else:
            yield found


def _longer(text: str, rest: Iterator[str]) -> str:
    more = next(rest, "")
    if not more or len(text) > _LARGEST:
        raise ValueError(f"no JSON of the kind: {text[:100]!r}")
    return text + more


def _charge(found: dict[str, Any]) -> Charge:
    return Charge(
        charge_id=found["id"],
        account=found["account"],
        downstream_key=found["idempotencyKey"],
        amount=found["amount"],
        currency=found["currency"],
        reference=found["reference"],
    )


def _entity(found: dict[str, Any]) -> Entity:
    document = found["document"]
    identity = document.get("id") if isinstance(document, dict) else None
    return Entity(
        place=" ".join(filter(None, (found["host"] + found["path"], found["key"]))),
        document_id=identity if isinstance(identity, str) else "",
        document_hash=hash_of(document),
    )


def _destinations(target: Target, tenants: frozenset[str]) -> Iterator[tuple[tuple[str, str], str]]:
    """Who calls what, by the registry that the platform's functions read: a tenant's item, and its keys'."""
    dynamodb = boto3.Session().client("dynamodb", **target.client_options())
    for page in dynamodb.get_paginator("scan").paginate(TableName=target.tenants_table):
        for item in page["Items"]:
            tenant = item.get("tenantId", {}).get("S")
            if tenant in tenants:
                settings = {
                    name: json.loads(item[name]["S"])
                    for name in ("webhooks", "orders", "operationSettings")
                    if name in item
                }
                yield from (((tenant, what), url) for what, url in _urls(settings) if url)


def _urls(settings: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    yield "orders", (settings.get("orders", {}).get("destination") or {}).get("url")
    for source, config in settings.get("webhooks", {}).items():
        yield f"webhooks/{source}", (config.get("destination") or {}).get("url")
    payments = settings.get("operationSettings", {}).get("payments", {})
    yield "payments", payments.get("options", {}).get("providerUrl")
