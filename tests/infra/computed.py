"""Outputs that AWS makes up, per resource type, for a run that is not a preview."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

_PLACE = "eu-west-1:123456789012"
Inputs = Mapping[str, Any]


def _arn(service: str, prefix: str, field: str = "name") -> Callable[[Inputs], dict[str, Any]]:
    return lambda inputs: {"arn": f"arn:aws:{service}:{_PLACE}:{prefix}{inputs[field]}"}


def _table(inputs: Inputs) -> dict[str, Any]:
    arn = f"arn:aws:dynamodb:{_PLACE}:table/{inputs['name']}"
    return {"arn": arn, "streamArn": f"{arn}/stream/2026-01-01T00:00:00.000"}


def _role(inputs: Inputs) -> dict[str, Any]:
    name = inputs.get("name", "named-by-pulumi")
    return {"arn": f"arn:aws:iam::123456789012:role/{name}", "name": name}


def _domain(inputs: Inputs) -> dict[str, Any]:
    return {"regionalDomainName": f"d-1.{inputs['domainName']}.example", "regionalZoneId": "Z1"}


def _queue(inputs: Inputs) -> dict[str, Any]:
    name = inputs["name"]
    url = f"https://sqs.eu-west-1.amazonaws.com/123456789012/{name}"
    return {"arn": f"arn:aws:sqs:{_PLACE}:{name}", "url": url}


def _function(inputs: Inputs) -> dict[str, Any]:
    return {"arn": f"arn:aws:lambda:{_PLACE}:function:{inputs['name']}", "version": "7"}


def _alias(inputs: Inputs) -> dict[str, Any]:
    arn = f"arn:aws:lambda:{_PLACE}:function:{inputs['functionName']}:{inputs['name']}"
    path = "2015-03-31/functions"
    return {"arn": arn, "invokeArn": f"arn:aws:apigateway:eu-west-1:lambda:path/{path}/{arn}/invocations"}


def _rule(inputs: Inputs) -> dict[str, Any]:
    bus = f"{inputs['eventBusName']}/" if "eventBusName" in inputs else ""
    return {"arn": f"arn:aws:events:{_PLACE}:rule/{bus}{inputs['name']}"}


def _rest_api(_inputs: Inputs) -> dict[str, Any]:
    return {"rootResourceId": "root", "executionArn": f"arn:aws:execute-api:{_PLACE}:api1"}


def _rest_stage(inputs: Inputs) -> dict[str, Any]:
    return {"invokeUrl": f"https://api1.execute-api.eu-west-1.amazonaws.com/{inputs['stageName']}"}


_COMPUTED: Mapping[str, Callable[[Inputs], dict[str, Any]]] = {
    "aws:apigateway/domainName:DomainName": _domain,
    "aws:apigateway/restApi:RestApi": _rest_api,
    "aws:apigateway/stage:Stage": _rest_stage,
    "aws:cloudwatch/eventBus:EventBus": _arn("events", "event-bus/"),
    "aws:cloudwatch/eventRule:EventRule": _rule,
    "aws:cloudwatch/logGroup:LogGroup": _arn("logs", "log-group:"),
    "aws:dynamodb/table:Table": _table,
    "aws:iam/role:Role": _role,
    "aws:kms/key:Key": lambda _inputs: {"arn": f"arn:aws:kms:{_PLACE}:key/k1", "keyId": "k1"},
    "aws:lambda/alias:Alias": _alias,
    "aws:lambda/eventSourceMapping:EventSourceMapping": lambda _inputs: {"uuid": "mapping-uuid"},
    "aws:lambda/function:Function": _function,
    "aws:s3/bucket:Bucket": lambda inputs: {"arn": f"arn:aws:s3:::{inputs['bucket']}"},
    "aws:sns/topic:Topic": _arn("sns", ""),
    "aws:sqs/queue:Queue": _queue,
}


def key_value(name: str) -> str:
    """The value that API Gateway makes up for the API key of that logical name."""
    return f"value-of-{name}-" + sha256(name.encode()).hexdigest()[:12]


def computed(kind: str, name: str, inputs: Inputs) -> tuple[str, dict[str, Any]]:
    """The id and the computed outputs of a resource."""
    made = _COMPUTED[kind](inputs) if kind in _COMPUTED else {}
    if kind == "aws:apigateway/apiKey:ApiKey":
        made = {"value": key_value(name)}
    return f"id-of-{name}", made
