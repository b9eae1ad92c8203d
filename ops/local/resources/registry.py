"""Every resource type that the local platform knows, by Pulumi's name of it."""

from collections.abc import Mapping

from ops.local.resources import (
    accounts,
    alarms,
    api_keys,
    authorizers,
    bucket_settings,
    buckets,
    deployments,
    domains,
    events,
    functions,
    keys,
    logs,
    mappings,
    methods,
    queues,
    rest_apis,
    roles,
    tables,
    topics,
)
from ops.local.resources.base import Provider

_MODULES: tuple[tuple[type[Provider], ...], ...] = (
    accounts.PROVIDERS,
    alarms.PROVIDERS,
    api_keys.PROVIDERS,
    authorizers.PROVIDERS,
    bucket_settings.PROVIDERS,
    buckets.PROVIDERS,
    deployments.PROVIDERS,
    domains.PROVIDERS,
    events.PROVIDERS,
    functions.PROVIDERS,
    keys.PROVIDERS,
    logs.PROVIDERS,
    mappings.PROVIDERS,
    methods.PROVIDERS,
    queues.PROVIDERS,
    rest_apis.PROVIDERS,
    roles.PROVIDERS,
    tables.PROVIDERS,
    topics.PROVIDERS,
)

PROVIDERS: Mapping[str, Provider] = {provider.kind: provider() for module in _MODULES for provider in module}
