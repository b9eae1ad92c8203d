"""Mappings of DynamoDB streams after the emulator was stopped: it saves their positions and not the streams.

A stream begins again at nothing, while its mapping still waits for the position that it had before, and so
would pass over as many records as were delivered then. Only a new mapping begins where the stream does.
"""

from ops.local.clients import Clients
from ops.local.resources.mappings import EventSourceMapping
from ops.local.state import State
from ops.local.urn import type_of


def drop_stream_mappings(state: State, aws: Clients) -> int:
    """Delete every mapping of a stream, for the update to make anew; returns how many there were."""
    provider = EventSourceMapping()
    mappings = [
        entry
        for entry in state.entries.values()
        if type_of(entry.urn) == provider.kind and ":dynamodb:" in str(entry.inputs.get("eventSourceArn"))
    ]
    for entry in mappings:
        provider.delete(aws, entry)
        state.remove(entry)
    return len(mappings)
