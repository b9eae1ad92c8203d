"""What calls Lambda functions: event source mappings, permissions, settings of asynchronous calls."""

import secrets
from typing import Any, ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, without_missing
from ops.local.state import Entry

_MAPPING_SETTINGS = {
    "functionName": "FunctionName",
    "batchSize": "BatchSize",
    "bisectBatchOnFunctionError": "BisectBatchOnFunctionError",
    "enabled": "Enabled",
    "functionResponseTypes": "FunctionResponseTypes",
    "maximumBatchingWindowInSeconds": "MaximumBatchingWindowInSeconds",
    "maximumRecordAgeInSeconds": "MaximumRecordAgeInSeconds",
    "maximumRetryAttempts": "MaximumRetryAttempts",
    "parallelizationFactor": "ParallelizationFactor",
}
"""Properties that the service takes as they are."""


class EventSourceMapping(Provider):
    """aws.lambda_.EventSourceMapping, from a DynamoDB stream or an SQS queue."""

    kind: ClassVar = "aws:lambda/eventSourceMapping:EventSourceMapping"
    identity: ClassVar = Identity(names=("eventSourceArn", "functionName"), fixed=("startingPosition",))
    applied: ClassVar = frozenset(
        {
            *identity.names,
            *identity.fixed,
            *_MAPPING_SETTINGS,
            "destinationConfig",
            "filterCriteria",
            "scalingConfig",
        }
    )
    not_applied: ClassVar = {
        "metricsConfig": "the emulator has no such metrics",
        "useResourceTimeoutForPropagation": "nothing propagates slowly here",
    }

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateEventSourceMapping."""
        there = aws.functions.create_event_source_mapping(
            EventSourceArn=inputs["eventSourceArn"],
            **without_missing(StartingPosition=inputs.get("startingPosition")),
            **_mapping_settings(inputs),
        )
        return _mapping_made(dict(there))

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """A mapping of the same source to the same function: two would hand it everything twice."""
        there = aws.functions.list_event_source_mappings(
            EventSourceArn=inputs["eventSourceArn"], FunctionName=inputs["functionName"]
        )["EventSourceMappings"]
        return next((_mapping_made(dict(mapping)) for mapping in there), None)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateEventSourceMapping."""
        cleared: dict[str, Any] = {"FilterCriteria": {}, "FunctionResponseTypes": [], "DestinationConfig": {}}
        before = _mapping_settings(old.inputs)
        settings = {
            **{name: nothing for name, nothing in cleared.items() if name in before},
            **_mapping_settings(inputs),
        }
        return _mapping_made(dict(aws.functions.update_event_source_mapping(UUID=old.id, **settings)))

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteEventSourceMapping."""
        try:
            aws.functions.delete_event_source_mapping(UUID=old.id)
        except aws.functions.exceptions.ResourceNotFoundException:
            return


def _mapping_settings(inputs: Inputs) -> dict[str, Any]:
    settings = {name: inputs[key] for key, name in _MAPPING_SETTINGS.items() if key in inputs}
    destination = (inputs.get("destinationConfig") or {}).get("onFailure")
    if destination:
        settings["DestinationConfig"] = {"OnFailure": {"Destination": destination["destinationArn"]}}
    if inputs.get("filterCriteria"):
        filters = [{"Pattern": f["pattern"]} for f in inputs["filterCriteria"].get("filters", [])]
        settings["FilterCriteria"] = {"Filters": filters}
    if inputs.get("scalingConfig"):
        settings["ScalingConfig"] = {"MaximumConcurrency": inputs["scalingConfig"]["maximumConcurrency"]}
    return settings


def _mapping_made(there: dict[str, Any]) -> Made:
    uuid = str(there["UUID"])
    outputs = {
        "uuid": uuid,
        "arn": there.get("EventSourceMappingArn"),
        "functionArn": there.get("FunctionArn"),
        "state": there.get("State"),
    }
    return Made(uuid, without_missing(**outputs))


class Permission(Provider):
    """aws.lambda_.Permission: one statement of a function's own policy."""

    kind: ClassVar = "aws:lambda/permission:Permission"
    identity: ClassVar = Identity(
        names=("function", "qualifier", "statementId"),
        fixed=("action", "principal", "sourceArn", "sourceAccount"),
    )
    applied: ClassVar = frozenset({*identity.names, *identity.fixed, "statementIdPrefix"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """AddPermission."""
        prefix = inputs.get("statementIdPrefix", "pulumi-")
        statement = inputs.get("statementId") or f"{prefix}{secrets.token_hex(8)}"
        aws.functions.add_permission(
            FunctionName=inputs["function"],
            StatementId=statement,
            Action=inputs["action"],
            Principal=inputs["principal"],
            **without_missing(
                Qualifier=inputs.get("qualifier"),
                SourceArn=inputs.get("sourceArn"),
                SourceAccount=inputs.get("sourceAccount"),
            ),
        )
        return Made(statement, {"statementId": statement})

    def delete(self, aws: Clients, old: Entry) -> None:
        """RemovePermission."""
        qualifier = without_missing(Qualifier=old.inputs.get("qualifier"))
        try:
            aws.functions.remove_permission(
                FunctionName=old.inputs["function"], StatementId=old.id, **qualifier
            )
        except aws.functions.exceptions.ResourceNotFoundException:
            return


class FunctionEventInvokeConfig(Provider):
    """aws.lambda_.FunctionEventInvokeConfig: what happens to an asynchronous call that fails."""

    kind: ClassVar = "aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig"
    identity: ClassVar = Identity(names=("functionName", "qualifier"))
    applied: ClassVar = frozenset(
        {*identity.names, "destinationConfig", "maximumEventAgeInSeconds", "maximumRetryAttempts"}
    )

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutFunctionEventInvokeConfig."""
        ends = {
            end: {"Destination": target["destination"]}
            for end, target in (
                ("OnFailure", (inputs.get("destinationConfig") or {}).get("onFailure")),
                ("OnSuccess", (inputs.get("destinationConfig") or {}).get("onSuccess")),
            )
            if target
        }
        aws.functions.put_function_event_invoke_config(
            FunctionName=inputs["functionName"],
            **without_missing(
                Qualifier=inputs.get("qualifier"),
                MaximumEventAgeInSeconds=inputs.get("maximumEventAgeInSeconds"),
                MaximumRetryAttempts=inputs.get("maximumRetryAttempts"),
                DestinationConfig=ends or None,
            ),
        )
        return Made(f"{inputs['functionName']}:{inputs.get('qualifier', '$LATEST')}", {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutFunctionEventInvokeConfig over the old one."""
        return self.create(aws, old.id, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteFunctionEventInvokeConfig."""
        qualifier = without_missing(Qualifier=old.inputs.get("qualifier"))
        try:
            aws.functions.delete_function_event_invoke_config(
                FunctionName=old.inputs["functionName"], **qualifier
            )
        except aws.functions.exceptions.ResourceNotFoundException:
            return


PROVIDERS = (EventSourceMapping, Permission, FunctionEventInvokeConfig)
