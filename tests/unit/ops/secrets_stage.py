"""A local stage on moto with one tenant, whose webhook sources prove themselves in every way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
from typer.testing import CliRunner

from ops.cli import app

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

TIERS = "small: {ratePerSecond: 10, burst: 20, quotaPerMonth: 1000, bodyLimitBytes: 2048}\n"
TENANT = """\
id: acme
name: Acme
tier: small
stages: [local]
keys: [server]
operations:
  payments: {providerUrl: "https://pay.example/v1"}
  orders: {destination: {url: "https://crm.example/orders/{id}"}}
  webhooks:
    sources:
      forms:
        preset: static-forms
        destination: {url: "https://crm.example/forms/{id}"}
      events: {preset: standard-webhooks}
      stripe: {preset: stripe}
      github: {preset: github}
      shopify: {preset: shopify}
      legacy: {scheme: basic, identity: {path: id, header: X-Event}}
      plain: {scheme: header, header: X-Proof, identity: {path: id}}
"""
SOURCES = ("forms", "events", "stripe", "github", "shopify", "legacy", "plain")


class SecretsStage:
    """The stage: its key under the alias that the program gives it, its outputs, its tenant's file."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "tiers.yaml").write_text(TIERS, encoding="utf-8")
        (home / "acme.yaml").write_text(TENANT, encoding="utf-8")
        kms = boto3.client("kms", region_name="us-east-1")
        self.key_id = kms.create_key()["KeyMetadata"]["KeyId"]
        kms.create_alias(AliasName="alias/onceward-local_data", TargetKeyId=self.key_id)
        self.ssm = boto3.client("ssm", region_name="us-east-1")
        tenants = {"acme": {"keys": {"server": "k"}, "webhooks": {"stripe": {"secret": "as it was"}}}}
        tables = {"receipts": "x", "records": "x", "tenants": "x"}
        outputs = {
            "apiUrl": "http://api.test",
            "region": "us-east-1",
            "stage": "local",
            "tables": tables,
            "tenants": tenants,
        }
        (home / "local.json").write_text(json.dumps(outputs), encoding="utf-8")

    def run(self, *arguments: str, given: str | None = None) -> Result:
        """The command line in this home, with `given` on standard input."""
        places = ["--home", str(self.home)]
        if arguments[1] != "remove":
            places += ["--directory", str(self.home)]
        return CliRunner().invoke(app, [*arguments, *places], input=given)

    def parameter(self, name: str) -> dict[str, Any]:
        """The parameter as SSM has it."""
        found: dict[str, Any] = self.ssm.get_parameter(
            Name=f"/onceward/local/acme/{name}", WithDecryption=True
        )
        return dict(found["Parameter"])

    def value(self, name: str) -> str:
        """Its value."""
        return str(self.parameter(name)["Value"])

    def told_secret(self) -> str:
        """What local.json has as Stripe's."""
        outputs = json.loads((self.home / "local.json").read_text(encoding="utf-8"))
        return str(outputs["tenants"]["acme"]["webhooks"]["stripe"]["secret"])
