"""KMS keys and their aliases."""

from typing import ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import (
    Inputs,
    Made,
    Provider,
    by_name,
    json_text,
    physical_name,
    without_missing,
)
from ops.local.state import Entry


class Key(Provider):
    """aws.kms.Key, symmetric."""

    kind: ClassVar = "aws:kms/key:Key"
    identity: ClassVar = Identity(fixed=("keyUsage", "customerMasterKeySpec", "multiRegion"))
    applied: ClassVar = frozenset(
        {*identity.fixed, "description", "policy", "enableKeyRotation", "deletionWindowInDays", "isEnabled"}
    )

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateKey, and its rotation."""
        there = aws.kms.create_key(
            **without_missing(
                Description=inputs.get("description"),
                Policy=json_text(inputs["policy"]) if "policy" in inputs else None,
                KeyUsage=inputs.get("keyUsage"),
                KeySpec=inputs.get("customerMasterKeySpec"),
                MultiRegion=inputs.get("multiRegion"),
            )
        )["KeyMetadata"]
        self._switch(aws, there["KeyId"], {}, inputs)
        return Made(there["KeyId"], {"keyId": there["KeyId"], "arn": there["Arn"]})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """The description, the policy and the switches."""
        aws.kms.update_key_description(KeyId=old.id, Description=inputs.get("description", ""))
        if "policy" in inputs:
            aws.kms.put_key_policy(KeyId=old.id, PolicyName="default", Policy=json_text(inputs["policy"]))
        self._switch(aws, old.id, old.inputs, inputs)
        return Made(old.id, old.outputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """ScheduleKeyDeletion, which is the only way there is."""
        days = without_missing(PendingWindowInDays=old.inputs.get("deletionWindowInDays"))
        try:
            aws.kms.schedule_key_deletion(KeyId=old.id, **days)
        except (aws.kms.exceptions.NotFoundException, aws.kms.exceptions.KMSInvalidStateException):
            return

    def _switch(self, aws: Clients, key: str, old: Inputs, new: Inputs) -> None:
        if bool(new.get("enableKeyRotation")) != bool(old.get("enableKeyRotation")):
            if new.get("enableKeyRotation"):
                aws.kms.enable_key_rotation(KeyId=key)
            else:
                aws.kms.disable_key_rotation(KeyId=key)
        if new.get("isEnabled", True) != old.get("isEnabled", True):
            if new.get("isEnabled", True):
                aws.kms.enable_key(KeyId=key)
            else:
                aws.kms.disable_key(KeyId=key)


class Alias(Provider):
    """aws.kms.Alias."""

    kind: ClassVar = "aws:kms/alias:Alias"
    identity: ClassVar = Identity(names=("name",))
    applied: ClassVar = frozenset({"name", "targetKeyId"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateAlias."""
        alias = physical_name(inputs, f"alias/{name}")
        aws.kms.create_alias(AliasName=alias, TargetKeyId=inputs["targetKeyId"])
        return _alias_made(aws, alias, inputs)

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The one with the name."""
        return by_name(inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateAlias."""
        aws.kms.update_alias(AliasName=old.id, TargetKeyId=inputs["targetKeyId"])
        return _alias_made(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteAlias."""
        try:
            aws.kms.delete_alias(AliasName=old.id)
        except aws.kms.exceptions.NotFoundException:
            return


def _alias_made(aws: Clients, alias: str, inputs: Inputs) -> Made:
    key = str(inputs["targetKeyId"]).rsplit("/", 1)[-1]
    outputs = {"name": alias, "arn": aws.arn("kms", alias), "targetKeyArn": aws.arn("kms", f"key/{key}")}
    return Made(alias, outputs)


PROVIDERS = (Key, Alias)
