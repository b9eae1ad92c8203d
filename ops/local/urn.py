"""URNs as the Pulumi engine makes them: `urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME`."""

STACK_TYPE = "pulumi:pulumi:Stack"
"""The root that every program has; it is left out of its children's type chain."""


def make_urn(stack: str, project: str, parent: str, resource_type: str, name: str) -> str:
    """The URN of a resource; `parent` is its parent's URN, or '' for none.

    The whole chain of the parent's types is kept (`a$b$c`): the SDK's own mock monitor keeps only the last,
    which makes two resources one where components are nested.
    """
    if parent:
        chain = parent.split("::")[2]
        if chain != STACK_TYPE:
            resource_type = f"{chain}${resource_type}"
    return f"urn:pulumi:{stack}::{project}::{resource_type}::{name}"


def type_of(urn: str) -> str:
    """The resource's own type token."""
    return urn.split("::")[2].rsplit("$", 1)[-1]


def name_of(urn: str) -> str:
    """The resource's logical name."""
    return urn.split("::", 3)[3]


def label_of(urn: str) -> str:
    """What a person calls it: `TYPE (NAME)`."""
    return f"{type_of(urn)} ({name_of(urn)})"
