"""What tenant files are checked against beyond themselves: which stages there are, and where one lives."""

from dataclasses import dataclass
from pathlib import Path

from tenants.document import Document
from tenants.document import Path as Field
from tenants.models import Tenant


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stage lives: AWS account id (12 digits) and region."""

    account: str
    region: str


@dataclass(frozen=True, slots=True)
class Scope:
    """What is known while files are read; None where it is not, and then nothing is checked against it.

    `place` is where `stage` lives: only tenants of that stage have to fit it.
    """

    known_stages: frozenset[str] | None = None
    stage: str | None = None
    place: Place | None = None

    def check(self, tenant: Tenant, document: Document) -> None:
        """Note in `document` each stage that does not exist and each ARN that the stage could not use."""
        if self.known_stages is not None:
            self._check_stages(tenant, self.known_stages, document)
        if self.place is not None and self.stage is not None and self.stage in tenant.stages:
            for field, arn in _arns(tenant, self.stage):
                _check_place(field, arn, self.place, document)

    def _check_stages(self, tenant: Tenant, known: frozenset[str], document: Document) -> None:
        for place, stage in enumerate(tenant.stages):
            if stage not in known:
                choices = ", ".join(sorted(known)) or "none"
                document.fault(
                    ("stages", place), f"must have a Pulumi.{stage}.yaml; there are {choices} (is {stage!r})"
                )


def stages_in(directory: Path) -> frozenset[str]:
    """The stages that have a `Pulumi.<stage>.yaml` in `directory`."""
    names = (path.name.removeprefix("Pulumi.") for path in directory.glob("Pulumi.*.yaml"))
    return frozenset(name.removesuffix(".yaml") for name in names)


def _arns(tenant: Tenant, stage: str) -> list[tuple[Field, str]]:
    here = tenant.subscriptions_on(stage)
    arns: list[tuple[Field, str]] = [
        (("subscriptions", index, "endpoint"), each.endpoint)
        for index, each in enumerate(tenant.subscriptions)
        if each.protocol == "sqs" and each in here
    ]
    key = tenant.kms_key_on(stage)
    if key is not None:
        arns.append((("encryption", "kmsKeyArn"), key))
    return arns


def _check_place(field: Field, arn: str, place: Place, document: Document) -> None:
    # Another account's queue has to be confirmed by its owner, and a topic cannot use another region's key:
    # AWS would say so half-way through the update.
    _, _, _, region, account, _ = arn.split(":", 5)
    if (account, region) != (place.account, place.region):
        document.fault(
            field,
            f"must be in the stage's account and region, {place.account} in {place.region} "
            f"(is {account} in {region}); `stages` limits it to the stages that it belongs to",
        )
