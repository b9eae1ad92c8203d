"""Runs a module as a process that ends when its owner does.

`python -m ops.local.owned FD MODULE [ARG ...]`: FD is the read end of a pipe whose write end only the
owner holds. The owner's death, by whatever signal, closes it, and this process then sends itself
SIGTERM, which is how the emulator is stopped in good order. (Linux's PR_SET_PDEATHSIG would do it
without a pipe, but on no other system, and it fires when the starting *thread* ends.)
"""

import os
import runpy
import signal
import sys
import threading


def _end_with_owner(descriptor: int) -> None:
    """Block until the owner's end of the pipe is closed, then stop this process."""
    while os.read(descriptor, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Watch the pipe in the background and run the module as `python -m MODULE ARG ...` would."""
    descriptor, module, *arguments = sys.argv[1:]
    threading.Thread(target=_end_with_owner, args=(int(descriptor),), daemon=True).start()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
