"""IAM roles and policies."""

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


class Role(Provider):
    """aws.iam.Role."""

    kind: ClassVar = "aws:iam/role:Role"
    identity: ClassVar = Identity(names=("name",), fixed=("path",))
    applied: ClassVar = frozenset(
        {"name", "path", "assumeRolePolicy", "description", "maxSessionDuration", "permissionsBoundary"}
    )
    not_applied: ClassVar = {"forceDetachPolicies": "a role here is always detached from its policies first"}

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreateRole."""
        role = physical_name(inputs, name)
        aws.iam.create_role(
            RoleName=role,
            AssumeRolePolicyDocument=json_text(inputs["assumeRolePolicy"]),
            **without_missing(
                Path=inputs.get("path"),
                Description=inputs.get("description"),
                MaxSessionDuration=inputs.get("maxSessionDuration"),
                PermissionsBoundary=inputs.get("permissionsBoundary"),
            ),
        )
        return _role_made(aws, role)

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The one with the name."""
        return by_name(inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """UpdateAssumeRolePolicy, UpdateRole and the boundary."""
        aws.iam.update_assume_role_policy(
            RoleName=old.id, PolicyDocument=json_text(inputs["assumeRolePolicy"])
        )
        arguments = without_missing(MaxSessionDuration=inputs.get("maxSessionDuration"))
        aws.iam.update_role(RoleName=old.id, Description=inputs.get("description", ""), **arguments)
        if "permissionsBoundary" in inputs:
            aws.iam.put_role_permissions_boundary(
                RoleName=old.id, PermissionsBoundary=inputs["permissionsBoundary"]
            )
        elif "permissionsBoundary" in old.inputs:
            aws.iam.delete_role_permissions_boundary(RoleName=old.id)
        return _role_made(aws, old.id)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteRole, after taking away what it was given."""
        try:
            for policy in aws.iam.list_attached_role_policies(RoleName=old.id)["AttachedPolicies"]:
                aws.iam.detach_role_policy(RoleName=old.id, PolicyArn=policy["PolicyArn"])
            for policy_name in aws.iam.list_role_policies(RoleName=old.id)["PolicyNames"]:
                aws.iam.delete_role_policy(RoleName=old.id, PolicyName=policy_name)
            aws.iam.delete_role(RoleName=old.id)
        except aws.iam.exceptions.NoSuchEntityException:
            return


def _role_made(aws: Clients, role: str) -> Made:
    there = aws.iam.get_role(RoleName=role)["Role"]
    return Made(role, {"name": role, "arn": there["Arn"], "uniqueId": there["RoleId"]})


class RolePolicy(Provider):
    """aws.iam.RolePolicy: a policy inside a role."""

    kind: ClassVar = "aws:iam/rolePolicy:RolePolicy"
    identity: ClassVar = Identity(names=("role", "name"))
    applied: ClassVar = frozenset({"role", "name", "policy"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """PutRolePolicy."""
        return self._put(aws, physical_name(inputs, name), inputs)

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """PutRolePolicy over the old one."""
        return self._put(aws, old.outputs["name"], inputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeleteRolePolicy."""
        try:
            aws.iam.delete_role_policy(RoleName=old.inputs["role"], PolicyName=old.outputs["name"])
        except aws.iam.exceptions.NoSuchEntityException:
            return

    def _put(self, aws: Clients, policy: str, inputs: Inputs) -> Made:
        aws.iam.put_role_policy(
            RoleName=inputs["role"], PolicyName=policy, PolicyDocument=json_text(inputs["policy"])
        )
        return Made(f"{inputs['role']}:{policy}", {"name": policy})


class RolePolicyAttachment(Provider):
    """aws.iam.RolePolicyAttachment."""

    kind: ClassVar = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
    identity: ClassVar = Identity(names=("role", "policyArn"))
    applied: ClassVar = frozenset({"role", "policyArn"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """AttachRolePolicy."""
        aws.iam.attach_role_policy(RoleName=inputs["role"], PolicyArn=inputs["policyArn"])
        return Made(f"{inputs['role']}/{inputs['policyArn']}", {})

    def delete(self, aws: Clients, old: Entry) -> None:
        """DetachRolePolicy."""
        try:
            aws.iam.detach_role_policy(RoleName=old.inputs["role"], PolicyArn=old.inputs["policyArn"])
        except aws.iam.exceptions.NoSuchEntityException:
            return


class Policy(Provider):
    """aws.iam.Policy: a policy on its own, to be attached."""

    kind: ClassVar = "aws:iam/policy:Policy"
    identity: ClassVar = Identity(names=("name",), fixed=("path", "description"))
    applied: ClassVar = frozenset({"name", "path", "description", "policy"})

    def create(self, aws: Clients, name: str, inputs: Inputs) -> Made:
        """CreatePolicy."""
        policy = physical_name(inputs, name)
        arguments = without_missing(Path=inputs.get("path"), Description=inputs.get("description"))
        made = aws.iam.create_policy(
            PolicyName=policy, PolicyDocument=json_text(inputs["policy"]), **arguments
        )
        there = made["Policy"]
        return Made(there["Arn"], {"name": policy, "arn": there["Arn"], "policyId": there["PolicyId"]})

    def leftover(self, aws: Clients, inputs: Inputs) -> Made | None:
        """The one with the name."""
        if "name" not in inputs:
            return None
        return Made(f"arn:aws:iam::{aws.account}:policy{inputs.get('path', '/')}{inputs['name']}", {})

    def update(self, aws: Clients, old: Entry, inputs: Inputs) -> Made:
        """CreatePolicyVersion; the version before goes, since AWS keeps five at most."""
        before = aws.iam.get_policy(PolicyArn=old.id)["Policy"]["DefaultVersionId"]
        aws.iam.create_policy_version(
            PolicyArn=old.id, PolicyDocument=json_text(inputs["policy"]), SetAsDefault=True
        )
        aws.iam.delete_policy_version(PolicyArn=old.id, VersionId=before)
        return Made(old.id, old.outputs)

    def delete(self, aws: Clients, old: Entry) -> None:
        """DeletePolicy."""
        try:
            aws.iam.delete_policy(PolicyArn=old.id)
        except aws.iam.exceptions.NoSuchEntityException:
            return


PROVIDERS = (Role, RolePolicy, RolePolicyAttachment, Policy)
