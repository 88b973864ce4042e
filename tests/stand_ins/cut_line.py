"""A program whose line breaks after so many bytes in one of the two directions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from threading import Thread

_PIECE = 4096


def main(most_typed: int, most_said: int, command: Sequence[str]) -> None:
    """Pass on what goes to a program and what it says, until there was too much of either."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout
    typed, said = process.stdin.fileno(), process.stdout.fileno()

    def pass_on(source: int, target: int, most: int) -> None:
        while piece := os.read(source, min(_PIECE, most)):
            os.write(target, piece)
            most -= len(piece)
            if not most:
                process.kill()
                os._exit(1)

    def type_all() -> None:
        pass_on(0, typed, most_typed)
        process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess]

    Thread(target=type_all, daemon=True).start()
    pass_on(said, 1, most_said)
    os._exit(process.wait())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
