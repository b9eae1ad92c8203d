"""The stage that is being deployed: its settings, names and place, handed to every component."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pulumi

from infra.naming import Arns, Location, Names
from infra.settings import Settings


@dataclass(frozen=True)
class Stage:
    """Settings, names and location of one stage, and the resource options that follow from them."""

    settings: Settings
    names: Names
    location: Location

    @cached_property
    def arns(self) -> Arns:
        """ARNs spelt out from the names."""
        return Arns(self.location, self.names)

    def child(self, parent: pulumi.Resource, **options: Any) -> pulumi.ResourceOptions:  # noqa: ANN401
        """Options of a resource that holds nothing which could not be made again."""
        return pulumi.ResourceOptions(parent=parent, **options)

    def keeper(self, parent: pulumi.Resource) -> pulumi.ResourceOptions:
        """Options of a resource whose loss is a loss of data.

        With `protectData` an update that would delete it fails, and if somebody lifts that protection, it
        leaves the stack but stays on AWS.
        """
        keep = self.settings.protect_data
        return pulumi.ResourceOptions(parent=parent, protect=keep, retain_on_delete=keep)
