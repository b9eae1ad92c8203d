"""What can go wrong with the local platform, in words for the person at the terminal."""


class LocalPlatformError(Exception):
    """The local platform cannot do what was asked; the message says what to do about it."""


class HomeError(LocalPlatformError):
    """The directory that was given for the platform's state cannot be one; the message names it."""


class InvalidInputError(LocalPlatformError):
    """The stage's settings or tenant files are wrong; the message lists every fault. Nothing was made."""


class UpdateFailedError(LocalPlatformError):
    """A resource could not be made, changed or deleted.

    What was done before it is recorded: the next update continues from there.
    """
