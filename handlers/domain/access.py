"""May this caller do this: the key's operations and origins.

The authorizer's policy says it already, at the gateway. It is asked again here because that policy is
cached by key alone: the cached answer cannot know this request's Origin, and a slip in one policy's
resource patterns must not be all that stands between a publishable key and somebody's leads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.domain.caller import EVERY_OPERATION

if TYPE_CHECKING:
    from handlers.domain.caller import Caller


class Forbidden(Exception):  # noqa: N818 - a refusal by its HTTP name; it is no fault of the program
    """The credential is good and may not do this; the message is fit for the caller."""


def check(caller: Caller, permission: str, origin: str | None) -> None:
    """Let the call pass, or raise `Forbidden`.

    `permission` is a word such as `leads:create`; `origin` is the request's Origin header as sent, None
    without one. A key with origins works from those only, so that a request without an Origin is refused
    too. (A program can forge an Origin: it limits what a copied page can do, and is no proof of identity.)
    """
    if EVERY_OPERATION not in caller.operations and permission not in caller.operations:
        raise Forbidden(f"This API key may not do {permission}.")
    if caller.origins and origin not in caller.origins:
        raise Forbidden("This API key does not work from this origin.")
