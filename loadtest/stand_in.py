"""Reads what of a run is outside the platform: from the stand-in of provider and CRM, where there is one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
import httpx

from loadtest.history import hash_of
from loadtest.outside import Charge, Entity, Outside
from loadtest.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loadtest.target import Target

_ANSWER_SECONDS = 30.0


def read(target: Target, tenants: Iterable[str], mark: str) -> Outside | None:
    """What bears the run's mark outside; None on a stage without a stand-in, where nobody can tell.

    Args:
        tenants: ids of the run's. mark: the run's key prefix.

    Raises:
        TargetError: the stand-in does not answer as one.
        botocore.exceptions.ClientError, BotoCoreError: the tenants' settings cannot be read.
    """
    if target.stand_in_url is None:
        return None
    charges, upserts = (_get(target.stand_in_url, what) for what in ("charges", "upserts"))
    try:
        return Outside(
            charges=tuple(_charge(one) for one in charges if mark in str(one.get("reference"))),
            entities=tuple(_entity(one) for one in upserts if mark in json.dumps(one)),
            destinations=dict(_destinations(target, frozenset(tenants))),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TargetError(f"{target.stand_in_url} answers as no stand-in does: {error!r}") from error


def _get(url: str, what: str) -> list[dict[str, Any]]:
    try:
        # It is on loopback: no proxy of the environment may come between.
        with httpx.Client(timeout=_ANSWER_SECONDS, trust_env=False) as client:
            answer = client.get(f"{url}/_stand-in/{what}")
        return list(answer.raise_for_status().json()[what])
    except (httpx.HTTPError, KeyError, TypeError, ValueError) as error:
        raise TargetError(f"the stand-in at {url} does not tell its {what}: {error!r}") from error


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
