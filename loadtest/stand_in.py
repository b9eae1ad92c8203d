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
            destinations=frozenset(_destinations(target, tenants)),
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


def _destinations(target: Target, tenants: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Who has a CRM for what, by the registry that the platform's functions read."""
    dynamodb = boto3.Session().client("dynamodb", **target.client_options())
    for tenant in tenants:
        key = {"pk": {"S": f"tenant#{tenant}"}}
        item = dynamodb.get_item(TableName=target.tenants_table, Key=key).get("Item", {})
        settings = {name: json.loads(item[name]["S"]) for name in ("webhooks", "orders") if name in item}
        if settings.get("orders", {}).get("destination"):
            yield tenant, "orders"
        for source, config in settings.get("webhooks", {}).items():
            if config.get("destination"):
                yield tenant, f"webhooks/{source}"
