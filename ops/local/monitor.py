"""The engine that the Pulumi program talks to: makes each registered resource on the local AWS.

`Monitor` has the methods of Pulumi's ResourceMonitor service and is handed to `pulumi.runtime.Settings`
in place of a connection to the Pulumi CLI. The method names and messages are Pulumi's own, see
pulumi/runtime/proto/resource_pb2.pyi.
"""

import threading
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import resource_pb2

from ops.local.applier import Applier
from ops.local.archives import is_archive
from ops.local.asked import Asked
from ops.local.errors import UpdateFailedError
from ops.local.invokes import INVOKES, Caller
from ops.local.state import Entry
from ops.local.urn import STACK_TYPE, make_urn
from ops.local.wire import Plain, to_struct

if TYPE_CHECKING:
    from collections.abc import Mapping

_FEATURES = (
    resource_pb2.RESOURCE_MONITOR_FEATURE_SECRETS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
)
"""What the SDK may ask for. It refuses the rest by itself (transforms, hooks), before anything is sent."""


@dataclass(frozen=True)
class Program:
    """Which program runs, and how."""

    project: str
    stack: str
    directory: Path
    """Where its relative archive paths begin: the working directory it runs in."""
    dry_run: bool = False


class Monitor:
    """Answers one run of a program. Its methods are called from several threads at once."""

    def __init__(self, program: Program, applier: Applier, caller: Caller) -> None:
        self._program = program
        self._applier = applier
        self._caller = caller
        self._lock = threading.Lock()
        self._registered: set[str] = set()
        self._stack_urn = ""
        self.stack_outputs: Mapping[str, Any] = MappingProxyType({})
        """What the program exported; secrets as plain values."""

    @property
    def registered(self) -> frozenset[str]:
        """The URNs registered so far."""
        with self._lock:
            return frozenset(self._registered)

    def RegisterResource(  # noqa: N802 (Pulumi's name, as all below)
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        """Make, change or leave the resource. Raises UpdateFailedError naming it and the reason."""
        urn = self._claim_urn(request)
        plain = Plain(request.object, self._program.directory)
        if request.type == STACK_TYPE:
            self._stack_urn = urn
        asked = self._asked(request, urn, plain)
        entry, known = self._applier.apply(asked)
        return resource_pb2.RegisterResourceResponse(
            urn=urn, id=entry.id if known else "", object=_answer(entry)
        )

    def RegisterResourceOutputs(  # noqa: N802
        self, request: resource_pb2.RegisterResourceOutputsRequest
    ) -> empty_pb2.Empty:
        """Keep the outputs of the stack; a component's are of no use to anyone here."""
        if request.urn == self._stack_urn:
            self.stack_outputs = Plain(request.outputs, self._program.directory).values
        return empty_pb2.Empty()

    def Invoke(  # noqa: N802
        self, request: resource_pb2.ResourceInvokeRequest
    ) -> resource_pb2.ResourceInvokeResponse:
        """Answer a data source. Raises UpdateFailedError for one that is not known here."""
        invoke = INVOKES.get(request.tok)
        if invoke is None:
            raise UpdateFailedError(f"{request.tok}: the local platform does not know this function")
        answer = invoke(self._caller, Plain(request.args, self._program.directory).values)
        return resource_pb2.ResourceInvokeResponse(**{"return": to_struct(answer)})  # type: ignore[arg-type]

    def ReadResource(self, request: resource_pb2.ReadResourceRequest) -> resource_pb2.ReadResourceResponse:  # noqa: N802
        """Refuse: nothing exists on the local AWS but what the program makes."""
        raise UpdateFailedError(
            f"{request.type} ({request.name}): reading existing resources is not supported locally"
        )

    def GetDeploymentInfo(self, _request: empty_pb2.Empty) -> resource_pb2.DeploymentInfo:  # noqa: N802
        """Say what this engine supports."""
        return resource_pb2.DeploymentInfo(supportedFeatures=list(_FEATURES))

    def SignalAndWaitForShutdown(self, _request: empty_pb2.Empty) -> empty_pb2.Empty:  # noqa: N802
        """The program has registered all; the deletions come after it has ended."""
        return empty_pb2.Empty()

    def _claim_urn(self, request: resource_pb2.RegisterResourceRequest) -> str:
        where = f"{request.type} ({request.name})"
        if request.remote or request.importId:
            raise UpdateFailedError(f"{where}: remote components and imports are not supported locally")
        urn = make_urn(self._program.stack, self._program.project, request.parent, request.type, request.name)
        with self._lock:
            if urn in self._registered:
                raise UpdateFailedError(f"{where}: registered twice, as {urn}")
            self._registered.add(urn)
        return urn

    def _asked(self, request: resource_pb2.RegisterResourceRequest, urn: str, plain: Plain) -> Asked:
        by_property = {
            name: tuple(sorted(made_from.urns))
            for name, made_from in sorted(request.propertyDependencies.items())
            if made_from.urns
        }
        dependencies = {*request.dependencies, request.parent, request.deletedWith}
        dependencies.update(*by_property.values())
        entry = Entry(
            urn=urn,
            custom=request.custom,
            inputs=plain.values,
            secret_names=tuple(sorted({*plain.secret_names, *request.additionalSecretOutputs})),
            dependencies=tuple(sorted(dependencies - {""})),
            property_dependencies=by_property,
            protect=request.protect,
            retain=request.retainOnDelete,
        )
        return Asked(
            entry=entry,
            aliases=tuple(self._alias_urns(request)),
            ignore_changes=tuple(request.ignoreChanges),
            replace_on=tuple(request.replaceOnChanges),
            delete_before_replace=request.deleteBeforeReplace,
        )

    def _alias_urns(self, request: resource_pb2.RegisterResourceRequest) -> list[str]:
        urns = list(request.aliasURNs)
        for alias in request.aliases:
            if alias.urn:
                urns.append(alias.urn)
                continue
            spec = alias.spec
            parent = "" if spec.noParent else spec.parentUrn or request.parent
            kind, name = spec.type or request.type, spec.name or request.name
            stack, project = spec.stack or self._program.stack, spec.project or self._program.project
            urns.append(make_urn(stack, project, parent, kind, name))
        return urns


def _answer(entry: Entry) -> struct_pb2.Struct:
    """All properties of the resource as the program shall see them; archives are not given back."""
    if not entry.custom:
        return struct_pb2.Struct()
    inputs = {name: value for name, value in entry.inputs.items() if not is_archive(value)}
    return to_struct({**inputs, **entry.outputs}, entry.secret_names)
