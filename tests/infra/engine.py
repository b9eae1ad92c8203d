"""An engine for tests: runs the program in this process and keeps what it registers.

Unlike Pulumi's own mock it builds URNs as the real engine does (type chain of the parents), refuses a URN
that comes twice, and leaves computed outputs unknown in a preview.
"""

# ruff: noqa: N802 (the methods have Pulumi's names)

import asyncio
import gc
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import pulumi.runtime
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime import rpc
from pulumi.runtime.proto import resource_pb2, source_pb2

from tests.infra.computed import computed

ACCOUNT = "123456789012"
REGION = "eu-west-1"
STACK_TYPE = "pulumi:pulumi:Stack"


@dataclass(frozen=True)
class Registered:
    """One resource as the program asked for it."""

    urn: str
    type: str
    name: str
    parent: str
    inputs: dict[str, Any]
    protect: bool
    retain: bool
    delete_before_replace: bool
    ignored: frozenset[str]
    dependencies: frozenset[str]
    secrets: frozenset[str]


@dataclass
class Run:
    """What one run of a program left behind."""

    resources: dict[str, Registered] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    secret_outputs: frozenset[str] = frozenset()

    @property
    def urns(self) -> set[str]:
        return set(self.resources)

    def of_type(self, kind: str) -> list[Registered]:
        """Every resource of a type such as `aws:iam/role:Role`."""
        return [each for each in self.resources.values() if each.type == kind]

    def one(self, kind: str, name: str) -> Registered:
        """The resource of that type and logical name."""
        (found,) = [each for each in self.of_type(kind) if each.name == name]
        return found


class Engine:
    """Pulumi's ResourceMonitor, as far as a program needs it."""

    def __init__(self, stack: str, *, preview: bool) -> None:
        self.run = Run()
        self._stack = stack
        self._preview = preview
        self._lock = threading.Lock()

    def RegisterResource(
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        urn = self._urn(request)
        values, secrets = plain(request.object)
        depends = {*request.dependencies}
        for dependencies in request.propertyDependencies.values():
            depends.update(dependencies.urns)
        asked = Registered(
            urn=urn,
            type=request.type,
            name=request.name,
            parent=request.parent,
            inputs=values,
            protect=request.protect,
            retain=request.retainOnDelete,
            delete_before_replace=request.deleteBeforeReplace,
            ignored=frozenset(request.ignoreChanges),
            dependencies=frozenset(depends),
            secrets=secrets,
        )
        with self._lock:
            if urn in self.run.resources:
                raise AssertionError(f"registered twice: {urn}")
            if request.type != STACK_TYPE:
                self.run.resources[urn] = asked
        if not request.custom:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        if self._preview:
            return resource_pb2.RegisterResourceResponse(urn=urn, object=_echo(values))
        identifier, made = computed(request.type, request.name, values)
        return resource_pb2.RegisterResourceResponse(urn=urn, id=identifier, object=_echo(values | made))

    def RegisterResourceOutputs(
        self, request: resource_pb2.RegisterResourceOutputsRequest
    ) -> empty_pb2.Empty:
        if f"::{STACK_TYPE}::" in request.urn:
            self.run.outputs, secrets = plain(request.outputs)
            self.run.secret_outputs = secrets
        return empty_pb2.Empty()

    def Invoke(self, request: resource_pb2.ResourceInvokeRequest) -> resource_pb2.ResourceInvokeResponse:
        answers: dict[str, dict[str, Any]] = {
            "aws:index/getCallerIdentity:getCallerIdentity": {"accountId": ACCOUNT},
            "aws:index/getRegion:getRegion": {"region": REGION},
            "aws:index/getPartition:getPartition": {"partition": "aws"},
        }
        response = resource_pb2.ResourceInvokeResponse()
        getattr(response, "return").update(answers[request.tok])  # a keyword in Python, a field in Pulumi
        return response

    def GetDeploymentInfo(self, _request: empty_pb2.Empty) -> resource_pb2.DeploymentInfo:
        return resource_pb2.DeploymentInfo(supportedFeatures=[resource_pb2.RESOURCE_MONITOR_FEATURE_SECRETS])

    def SignalAndWaitForShutdown(self, _request: empty_pb2.Empty) -> empty_pb2.Empty:
        return empty_pb2.Empty()

    def _urn(self, request: resource_pb2.RegisterResourceRequest) -> str:
        kind = request.type
        if request.parent:
            chain = request.parent.split("::")[2]
            # A stack is every resource's outermost parent and no part of the chain.
            kind = kind if chain == STACK_TYPE else f"{chain}${kind}"
        return f"urn:pulumi:{self._stack}::onceward::{kind}::{request.name}"


def run(
    program: Callable[[], None], stack: str, config: Mapping[str, str] | None = None, *, preview: bool
) -> Run:
    """Run `program` once and return what it registered; raises what it raises."""
    engine = Engine(stack, preview=preview)

    async def in_stack() -> None:
        pulumi.runtime.configure(
            pulumi.runtime.Settings(
                project="onceward", stack=stack, monitor=engine, dry_run=preview, organization="organization"
            )
        )
        pulumi.runtime.set_all_config(dict(config or {}), [])
        await pulumi.runtime.run_in_stack(program)

    # A string with an Output in it is a bug that Pulumi by default only writes into the string.
    os.environ["PULUMI_ERROR_OUTPUT_STRING"] = "true"
    gc.disable()  # collecting the live Outputs again and again takes most of the time of a large run
    try:
        # Where in the program a resource was made: nobody here asks, and under pytest's many frames it takes
        # a third of the time.
        with patch("pulumi.runtime.resource._get_stack_trace", source_pb2.StackTrace):
            asyncio.run(in_stack())
    finally:
        gc.enable()
        del os.environ["PULUMI_ERROR_OUTPUT_STRING"]
    return engine.run


def plain(properties: struct_pb2.Struct) -> tuple[dict[str, Any], frozenset[str]]:
    """The values of a message as plain Python (unknowns as `rpc.UNKNOWN`), and which hold a secret."""
    secrets: set[str] = set()

    def value(name: str, item: struct_pb2.Value) -> Any:
        kind = item.WhichOneof("kind")
        if kind == "list_value":
            return [value(name, each) for each in item.list_value.values]
        if kind != "struct_value":
            return None if kind == "null_value" else getattr(item, str(kind))
        fields = item.struct_value.fields
        signature = fields[rpc._special_sig_key].string_value if rpc._special_sig_key in fields else None
        if signature == rpc._special_secret_sig:
            secrets.add(name)
            return value(name, fields["value"])
        return {key: value(name, each) for key, each in fields.items()}

    return {name: value(name, item) for name, item in properties.fields.items()}, frozenset(secrets)


def _echo(values: Mapping[str, Any]) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    struct.update({name: item for name, item in values.items() if name != "code"})
    return struct
