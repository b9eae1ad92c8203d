"""The commented file that `onceward tenants add` writes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_TEMPLATE: Final = """\
# yaml-language-server: $schema=./tenant.schema.json
id: {id} # the file's name without .yaml; names the tenant's topic and keys; never change it
name: {name}
tier: {tier} # limits: see tiers.yaml
status: active # suspended: everything stays, every request is refused (403)
stages: [{stages}] # where the tenant exists

# At most two. A bare name may do everything. Two at once are a rotation: add the new key, update, move the
# callers, remove the old key, update. A publishable key, for a public page, is narrowed down:
#   - name: web
#     operations: [leads:create] # of <leads|orders|payments|appointments>:<create|read>,
#                                # webhook-events:read, receipts:read
#     origins: [https://www.example.com]
keys:
{keys}

# Who gets the tenant's events: email, https or sqs, each with an optional SNS filter policy on type,
# tenantId or eventId.
#   - protocol: https
#     endpoint: https://hooks.example.com/onceward
#     filterPolicy: {{ type: [lead.created] }}
#     stages: [prod]  # left out: on all of the tenant's stages
subscriptions: []

operations:
  leads:
    windowSeconds: 86400 # how long a key stands for its request: 10 s to 30 days (2592000)
    keySource: header-or-body # header: a request without an Idempotency-Key is refused (400)
    # bodyLimitBytes: 16384 # lower than the tier's limit
  appointments:
    windowSeconds: 10
    keyFields: [doctorId, patientId, startsAt] # JMESPath over the body: these make two requests one
  # orders:
  #   destination: # where an order is put when it is worked off; left out: to the event bus only
  #     url: https://crm.example.com/v1/orders/{{id}}
  # payments: # without this section: no payments (403)
  #   providerUrl: https://payments.example.com # POST <providerUrl>/charges
  #   honoursSeconds: 86400 # how long the provider remembers an idempotency key
  #   lookup: true # whether it can be asked for a charge by its key
  # webhooks:
  #   sources: # each is called at /v1/webhooks/<tenant>/<source>
  #     billing:
  #       preset: stripe # or github, shopify, static-forms, standard-webhooks
  #       destination: {{ url: "https://crm.example.com/v1/events/{{id}}" }} # PUT; or method: POST
  #     forms: # a sender without a preset, or with one, and what is written out goes before it
  #       scheme: header # or bearer, basic, or the signature of one of the presets
  #       header: X-Form-Secret
  #       identity: {{ path: data.submissionId, template: "forms:{{event}}:{{data.submissionId}}" }}
  #       windowSeconds: 2592000
  # Secrets are not in this file: `onceward secrets set {id} webhooks/billing`, `payments/provider`,
  # `destinations/orders`, `destinations/webhooks/billing`.

# Of dashboard: dedicated. An alarm rings when at least `threshold` were counted within `minutes`; of requests
# they must also be at least `sharePercent` of all. Others, and these too, have the platform's rules.
alarms:
  enabled: true # false: no alarm at all rings for this tenant alone
  failedRequests: {{ threshold: 5, minutes: 5, sharePercent: 1 }} # answered with 5xx
  throttledRequests: {{ threshold: 20, minutes: 5, sharePercent: 10 }} # over the tier's limits (429)
  failedDeliveries: {{ threshold: 1, minutes: 5 }} # events that did not reach a subscriber
  stuckWork: {{ threshold: 1, minutes: 5 }} # events parked, orders and webhooks given up

dashboard: {dashboard} # dedicated, or shared: no dashboard of its own, the economical choice
metrics: standard # or detailed: every metric of this tenant by operation too, about 130 series that each cost
encryption: platform # or {{ kmsKeyArn: "arn:aws:kms:..." }}: a key of the tenant's own for its topic
synthetic: {synthetic} # true: made for storms, no real traffic
"""


@dataclass(frozen=True, slots=True)
class NewTenant:
    """What `add` was told; it is checked as a file, not here."""

    id: str
    name: str
    tier: str
    stages: Sequence[str]
    keys: Sequence[str]
    dashboard: str
    synthetic: bool


def render(new: NewTenant) -> str:
    """The text of the tenant's file; whatever the values are, it is YAML that says exactly them."""
    return _TEMPLATE.format(
        id=_scalar(new.id),
        name=_scalar(new.name),
        tier=_scalar(new.tier),
        stages=", ".join(_scalar(stage) for stage in new.stages),
        keys="\n".join(f"  - {_scalar(key)}" for key in new.keys) or "  []",
        dashboard=_scalar(new.dashboard),
        synthetic=str(new.synthetic).lower(),
    )


def _scalar(text: str) -> str:
    """`text` plain where that is safe, else quoted (JSON's strings are YAML's)."""
    words = text.split(" ")
    plain = text.isascii() and all(word.replace("-", "").isalnum() and word[0].isalpha() for word in words)
    return text if plain and text.lower() not in _YAML_WORDS else json.dumps(text, ensure_ascii=False)


# What YAML 1.1 or 1.2 would read as something other than text.
_YAML_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
