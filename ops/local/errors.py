"""What can go wrong with the local platform, in words for the person at the terminal."""


class LocalPlatformError(Exception):
    """The local platform cannot do what was asked; the message says what to do about it."""


class UpdateFailedError(LocalPlatformError):
    """A resource could not be made, changed or deleted.

    What was done before it is recorded: the next update continues from there.
    """
