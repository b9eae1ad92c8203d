"""EventBridge buses, rules and their targets."""

from typing import Any, ClassVar

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

_DEFAULT_BUS = "default"
"""The bus that AWS's own services send their events to."""


class EventBus(Provider):
    """aws.cloudwatch.EventBus."""

    kind: ClassVar = "aws:cloudwatch/eventBus:EventBus"
    identity: ClassVar = Identity(names=("name",))
    applied: ClassVar = frozenset({"name", "description", "kmsKeyIdentifier", "deadLetterConfig"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateEventBus."""
        bus = physical_name(inputs, name)
        arn = aws.events.create_event_bus(Name=bus, **_bus_settings(inputs))["EventBusArn"]
        return Made(bus, {"name": bus, "arn": arn})

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The one with the name."""
        return by_name(inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateEventBus."""
        aws.events.update_event_bus(Name=old.id, **_bus_settings(inputs))
        return Made(old.id, old.outputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteEventBus, which succeeds for one that is not there."""
        aws.events.delete_event_bus(Name=old.id)


def _bus_settings(inputs: Inputs) -> dict[str, Any]:
    letters = inputs.get("deadLetterConfig")
    return without_missing(
        Description=inputs.get("description"),
        KmsKeyIdentifier=inputs.get("kmsKeyIdentifier"),
        DeadLetterConfig=None if letters is None else {"Arn": letters["arn"]},
    )


class EventRule(Provider):
    """aws.cloudwatch.EventRule."""

    kind: ClassVar = "aws:cloudwatch/eventRule:EventRule"
    identity: ClassVar = Identity(names=("eventBusName", "name"))
    applied: ClassVar = frozenset(
        {*identity.names, "description", "eventPattern", "scheduleExpression", "state", "roleArn"}
    )
    not_applied: ClassVar = {"forceDestroy": "a rule here is always deleted with its targets"}

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutRule."""
        return self._put(aws, physical_name(inputs, name), inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutRule over the old one."""
        return self._put(aws, old.outputs["name"], inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteRule, after its targets."""
        bus, rule = old.inputs.get("eventBusName", _DEFAULT_BUS), old.outputs["name"]
        try:
            targets = aws.events.list_targets_by_rule(Rule=rule, EventBusName=bus)["Targets"]
            if targets:
                aws.events.remove_targets(Rule=rule, EventBusName=bus, Ids=[t["Id"] for t in targets])
            aws.events.delete_rule(Name=rule, EventBusName=bus)
        except aws.events.exceptions.ResourceNotFoundException:
            return

    def _put(self, aws: Clients, rule: str, inputs: Inputs) -> Made:
        bus = inputs.get("eventBusName", _DEFAULT_BUS)
        arn = aws.events.put_rule(
            Name=rule,
            EventBusName=bus,
            **without_missing(
                Description=inputs.get("description"),
                EventPattern=json_text(inputs["eventPattern"]) if "eventPattern" in inputs else None,
                ScheduleExpression=inputs.get("scheduleExpression"),
                State=inputs.get("state"),
                RoleArn=inputs.get("roleArn"),
            ),
        )["RuleArn"]
        return Made(rule if bus == _DEFAULT_BUS else f"{bus}/{rule}", {"name": rule, "arn": arn})


class EventTarget(Provider):
    """aws.cloudwatch.EventTarget."""

    kind: ClassVar = "aws:cloudwatch/eventTarget:EventTarget"
    identity: ClassVar = Identity(names=("eventBusName", "rule", "targetId"))
    applied: ClassVar = frozenset(
        {
            *identity.names, "arn", "roleArn", "input", "inputPath", "inputTransformer", "deadLetterConfig",
            "retryPolicy",
        }
    )  # fmt: skip
    not_applied: ClassVar = {"forceDestroy": "only for rules that AWS manages"}

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutTargets."""
        return self._put(aws, physical_name(inputs, name, "targetId"), inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutTargets over the old one."""
        return self._put(aws, old.outputs["targetId"], inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """RemoveTargets."""
        bus = old.inputs.get("eventBusName", _DEFAULT_BUS)
        try:
            aws.events.remove_targets(
                Rule=old.inputs["rule"], EventBusName=bus, Ids=[old.outputs["targetId"]]
            )
        except aws.events.exceptions.ResourceNotFoundException:
            return

    def _put(self, aws: Clients, target: str, inputs: Inputs) -> Made:
        bus = inputs.get("eventBusName", _DEFAULT_BUS)
        what: Any = {"Id": target, "Arn": inputs["arn"], **_target(inputs)}
        aws.events.put_targets(Rule=inputs["rule"], EventBusName=bus, Targets=[what])
        return Made(f"{inputs['rule']}-{target}", {"targetId": target})


def _target(inputs: Inputs) -> dict[str, Any]:
    letters, retries = inputs.get("deadLetterConfig"), inputs.get("retryPolicy")
    transformer = inputs.get("inputTransformer")
    return without_missing(
        RoleArn=inputs.get("roleArn"),
        Input=inputs.get("input"),
        InputPath=inputs.get("inputPath"),
        InputTransformer=without_missing(
            InputPathsMap=transformer.get("inputPaths"), InputTemplate=transformer["inputTemplate"]
        )
        if transformer
        else None,
        DeadLetterConfig={"Arn": letters["arn"]} if letters else None,
        RetryPolicy=without_missing(
            MaximumEventAgeInSeconds=retries.get("maximumEventAgeInSeconds"),
            MaximumRetryAttempts=retries.get("maximumRetryAttempts"),
        )
        if retries
        else None,
    )


PROVIDERS = (EventBus, EventRule, EventTarget)
