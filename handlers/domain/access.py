"""May this caller do this: the key's operations and origins.

The authorizer's policy says it already, at the gateway. It is asked again here because that policy is
cached by key alone: the cached answer cannot know this request's Origin, and a slip in one policy's
resource patterns must not be all that stands between a publishable key and somebody's leads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.domain.caller import EVERY_OPERATION
from handlers.domain.errors import Forbidden

if TYPE_CHECKING:
    from handlers.domain.caller import Caller


def check(caller: Caller, permission: str, origin: str | None) -> None:
    """Let the call pass, or raise `Forbidden`.

    `permission` is a word such as `leads:create`; `origin` is the request's Origin header as sent, None
    without one. A key with origins works from those only, so that a request without an Origin is refused
    too. (A program can forge an Origin: it limits what a copied page can do, and is no proof of identity.)
    """
    if EVERY_OPERATION not in caller.operations and permission not in caller.operations:
        raise Forbidden(f"this API key may not do {permission}")
    if caller.origins and origin not in caller.origins:
        raise Forbidden("this API key does not work from this origin")
