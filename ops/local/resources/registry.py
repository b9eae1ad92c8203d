"""Every resource type that the local platform knows, by Pulumi's name of it."""

from collections.abc import Mapping

from ops.local.resources import functions, queues, roles, tables, topics
from ops.local.resources.base import Provider


def _by_token(*modules: tuple[type[Provider], ...]) -> Mapping[str, Provider]:
    providers = [provider() for module in modules for provider in module]
    return {provider.kind: provider for provider in providers}


PROVIDERS: Mapping[str, Provider] = _by_token(
    tables.PROVIDERS, roles.PROVIDERS, topics.PROVIDERS, queues.PROVIDERS, functions.PROVIDERS
)
