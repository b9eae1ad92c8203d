"""Lambda functions and their versions and aliases."""

from typing import Any, ClassVar

from ops.local.archives import zip_bytes
from ops.local.clients import Clients
from ops.local.diff import Identity, changed_properties
from ops.local.resources.base import Inputs, Made, Provider, by_name, physical_name, without_missing
from ops.local.state import Entry

_CODE = frozenset({"code", "architectures", "sourceCodeHash"})
"""Properties that UpdateFunctionCode takes; the rest is UpdateFunctionConfiguration's."""

_INVOCATION_API = "2015-03-31"
"""Date of Lambda's invocation API in the URIs that API Gateway wants."""


class Function(Provider):
    """aws.lambda_.Function, from a zip."""

    kind: ClassVar = "aws:lambda/function:Function"
    identity: ClassVar = Identity(names=("name",), fixed=("packageType",))
    applied: ClassVar = frozenset(
        {
            "name", "code", "handler", "runtime", "role", "environment", "memorySize", "timeout",
            "description", "architectures", "publish", "tracingConfig", "deadLetterConfig",
            "reservedConcurrentExecutions", "kmsKeyArn", "loggingConfig", "ephemeralStorage", "packageType",
        }
    )  # fmt: skip
    not_applied: ClassVar = {
        "sourceCodeHash": "the bundle's own hash decides whether the code changed",
        "skipDestroy": "a function here goes with all its versions",
        "useResourceTimeoutForPropagation": "nothing propagates slowly here",
    }
    volatile: ClassVar = frozenset({"version", "qualifiedArn", "qualifiedInvokeArn", "lastModified"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateFunction."""
        function = physical_name(inputs, name)
        made = aws.functions.create_function(
            FunctionName=function,
            Code={"ZipFile": zip_bytes(inputs["code"])},
            Publish=bool(inputs.get("publish")),
            **without_missing(Architectures=inputs.get("architectures"), **_configuration(inputs)),
        )
        self._limit(aws, function, {}, inputs)
        return _function_made(aws, inputs, dict(made))

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The one with the name."""
        return by_name(inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateFunctionCode and UpdateFunctionConfiguration, as far as needed, then PublishVersion."""
        changed = set(changed_properties(old.inputs, inputs))
        made: dict[str, Any] = {}
        if changed - _CODE - {"publish", "reservedConcurrentExecutions"}:
            cleared = {"Environment": {}, "Description": "", "DeadLetterConfig": {}, "KMSKeyArn": ""}
            made = dict(
                aws.functions.update_function_configuration(
                    FunctionName=old.id, **{**cleared, **_configuration(inputs)}
                )
            )
        if changed & _CODE:
            made = dict(
                aws.functions.update_function_code(
                    FunctionName=old.id,
                    ZipFile=zip_bytes(inputs["code"]),
                    **without_missing(Architectures=inputs.get("architectures")),
                )
            )
        if inputs.get("publish"):
            made = dict(aws.functions.publish_version(FunctionName=old.id))
        self._limit(aws, old.id, old.inputs, inputs)
        return _function_made(
            aws, inputs, made or dict(aws.functions.get_function_configuration(FunctionName=old.id))
        )

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteFunction, with all versions and aliases."""
        try:
            aws.functions.delete_function(FunctionName=old.id)
        except aws.functions.exceptions.ResourceNotFoundException:
            return

    def _limit(self, aws: Clients, function: str, old: Inputs, new: Inputs) -> None:
        limit = new.get("reservedConcurrentExecutions", -1)  # -1 means none, as in pulumi-aws
        if limit == old.get("reservedConcurrentExecutions", -1):
            return
        if limit >= 0:
            aws.functions.put_function_concurrency(FunctionName=function, ReservedConcurrentExecutions=limit)
        else:
            aws.functions.delete_function_concurrency(FunctionName=function)


def _configuration(inputs: Inputs) -> dict[str, Any]:
    tracing, letters = inputs.get("tracingConfig"), inputs.get("deadLetterConfig")
    logging, storage, environment = (
        inputs.get("loggingConfig"),
        inputs.get("ephemeralStorage"),
        inputs.get("environment"),
    )
    return without_missing(
        Handler=inputs.get("handler"),
        Runtime=inputs.get("runtime"),
        Role=inputs.get("role"),
        MemorySize=inputs.get("memorySize"),
        Timeout=inputs.get("timeout"),
        Description=inputs.get("description"),
        KMSKeyArn=inputs.get("kmsKeyArn"),
        Environment={"Variables": environment.get("variables", {})} if environment else None,
        TracingConfig={"Mode": tracing["mode"]} if tracing else None,
        DeadLetterConfig={"TargetArn": letters["targetArn"]} if letters else None,
        EphemeralStorage={"Size": storage["size"]} if storage else None,
        LoggingConfig=without_missing(
            LogFormat=logging.get("logFormat"),
            LogGroup=logging.get("logGroup"),
            ApplicationLogLevel=logging.get("applicationLogLevel"),
            SystemLogLevel=logging.get("systemLogLevel"),
        )
        if logging
        else None,
    )


def _function_made(aws: Clients, inputs: Inputs, there: dict[str, Any]) -> Made:
    function = str(there["FunctionName"])
    arn = aws.arn("lambda", f"function:{function}")
    version = str(there.get("Version", "$LATEST"))
    outputs = {
        "name": function,
        "arn": arn,
        "invokeArn": invoke_arn(aws, arn),
        "version": version,
        "qualifiedArn": f"{arn}:{version}",
        "qualifiedInvokeArn": invoke_arn(aws, f"{arn}:{version}"),
        "lastModified": there.get("LastModified"),
        "sourceCodeHash": inputs.get("sourceCodeHash", there.get("CodeSha256")),
        "sourceCodeSize": there.get("CodeSize"),
    }
    return Made(function, outputs)


def invoke_arn(aws: Clients, function_arn: str) -> str:
    """The URI by which API Gateway invokes a function, or one alias or version of it."""
    return (
        f"arn:aws:apigateway:{aws.region}:lambda:path/{_INVOCATION_API}/functions/{function_arn}/invocations"
    )


class Alias(Provider):
    """aws.lambda_.Alias."""

    kind: ClassVar = "aws:lambda/alias:Alias"
    identity: ClassVar = Identity(names=("functionName", "name"))
    applied: ClassVar = frozenset({"functionName", "name", "functionVersion", "description", "routingConfig"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateAlias."""
        alias = physical_name(inputs, name)
        aws.functions.create_alias(FunctionName=inputs["functionName"], Name=alias, **_alias_settings(inputs))
        return _alias_made(aws, alias, inputs)

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The one with the name."""
        return _alias_made(aws, inputs["name"], inputs) if "name" in inputs else None

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateAlias."""
        alias = old.outputs["name"]
        aws.functions.update_alias(FunctionName=inputs["functionName"], Name=alias, **_alias_settings(inputs))
        return _alias_made(aws, alias, inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteAlias."""
        try:
            aws.functions.delete_alias(FunctionName=old.inputs["functionName"], Name=old.outputs["name"])
        except aws.functions.exceptions.ResourceNotFoundException:
            return


def _alias_settings(inputs: Inputs) -> dict[str, Any]:
    weights = (inputs.get("routingConfig") or {}).get("additionalVersionWeights", {})
    return {
        "FunctionVersion": str(inputs["functionVersion"]),
        "Description": inputs.get("description", ""),
        "RoutingConfig": {"AdditionalVersionWeights": weights},
    }


def _alias_made(aws: Clients, alias: str, inputs: Inputs) -> Made:
    function = str(inputs["functionName"]).rsplit(":", 1)[-1]  # it may be given as an ARN
    arn = aws.arn("lambda", f"function:{function}:{alias}")
    return Made(arn, {"name": alias, "arn": arn, "invokeArn": invoke_arn(aws, arn)})


PROVIDERS = (Function, Alias)
