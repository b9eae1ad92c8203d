"""API Gateway custom domains."""

from typing import Any, ClassVar

from ops.local.clients import Clients
from ops.local.diff import Identity
from ops.local.resources.base import Inputs, Made, Provider, by_name, without_missing
from ops.local.state import Entry


class DomainName(Provider):
    """aws.apigateway.DomainName; nothing resolves the name here."""

    kind: ClassVar = "aws:apigateway/domainName:DomainName"
    identity: ClassVar = Identity(
        names=("domainName",),
        fixed=("regionalCertificateArn", "certificateArn", "endpointConfiguration", "securityPolicy"),
    )
    applied: ClassVar = frozenset({*identity.names, *identity.fixed})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateDomainName."""
        there: Any = aws.apigateway.create_domain_name(
            domainName=inputs["domainName"],
            **without_missing(
                regionalCertificateArn=inputs.get("regionalCertificateArn"),
                certificateArn=inputs.get("certificateArn"),
                securityPolicy=inputs.get("securityPolicy"),
            ),
        )
        outputs = {
            "arn": f"arn:aws:apigateway:{aws.region}::/domainnames/{inputs['domainName']}",
            "regionalDomainName": there.get("regionalDomainName"),
            "regionalZoneId": there.get("regionalHostedZoneId"),
        }
        return Made(inputs["domainName"], outputs)

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The one with the name."""
        return by_name(inputs, "domainName")

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteDomainName."""
        try:
            aws.apigateway.delete_domain_name(domainName=old.id)
        except aws.apigateway.exceptions.NotFoundException:
            return


class BasePathMapping(Provider):
    """aws.apigateway.BasePathMapping."""

    kind: ClassVar = "aws:apigateway/basePathMapping:BasePathMapping"
    identity: ClassVar = Identity(names=("domainName", "basePath"), fixed=("restApi", "stageName"))
    applied: ClassVar = frozenset({*identity.names, *identity.fixed})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateBasePathMapping."""
        aws.apigateway.create_base_path_mapping(
            domainName=inputs["domainName"],
            restApiId=inputs["restApi"],
            **without_missing(basePath=inputs.get("basePath"), stage=inputs.get("stageName")),
        )
        return Made(f"{inputs['domainName']}/{inputs.get('basePath', '')}", {})

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteBasePathMapping; the empty path is called `(none)`."""
        try:
            aws.apigateway.delete_base_path_mapping(
                domainName=old.inputs["domainName"], basePath=old.inputs.get("basePath") or "(none)"
            )
        except aws.apigateway.exceptions.NotFoundException:
            return


PROVIDERS = (DomainName, BasePathMapping)
