"""The AWS provider itself, where the program makes one of its own."""

from typing import ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider
from ops.local.state import Entry


class AwsProvider(Provider):
    """pulumi_aws.Provider: there is one account and one region here, so all of them are the same.

    Raises ValueError for a region other than the platform's and for an account that is not allowed.
    """

    kind: ClassVar = "pulumi:providers:aws"
    identity: ClassVar = Identity()
    applied: ClassVar = frozenset({"region", "allowedAccountIds", "version"})
    not_applied: ClassVar = {
        "defaultTags": "nothing local reads tags",
        "skipCredentialsValidation": "the credentials are the platform's own",
        "skipMetadataApiCheck": "the credentials are the platform's own",
        "skipRegionValidation": "the region is the platform's own",
        "profile": "the credentials are the platform's own",
        "assumeRoles": "the credentials are the platform's own",
    }

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """Check that it could be this account and region."""
        if inputs.get("region", aws.region) != aws.region:
            raise ValueError(f"region: must be {aws.region} locally")
        if aws.account not in inputs.get("allowedAccountIds", [aws.account]):
            raise ValueError(f"allowedAccountIds: must have {aws.account}, the local account")
        return Made(f"local-{name}", {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """As create."""
        return Made(old.id, self.create(aws, old.id, inputs).outputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """Nothing was made."""


PROVIDERS = (AwsProvider,)
