"""The program's side of the process that counts tokens: started when needed, ended at rest."""

from __future__ import annotations

import atexit
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

import ollm_tui
from ollm_tui.core.provider import Vocabulary
from ollm_tui.services.tokens.counting_wire import Answer, CountTexts, Learn, Request, receive, send

REST_SECONDS = 60.0
"""After this time without a request the process ends and its memory is free again."""
COMMAND = (sys.executable, "-P", "-m", "ollm_tui.services.tokens.counting_child")
"""-P, because a file in the project folder must not be imported in place of our modules."""
ATTEMPTS = 2
"""A process that dies is started once more; if that dies of the same request, it is given up."""


class CountingFailed(Exception):
    """The process cannot be started, or died of what it was asked."""


class CountingProcess:
    """Counts in a child process, so that building the table of tokens holds up no key.

    Its methods wait for the answer: they are called in threads. Any number may call at once.
    """

    def __init__(
        self, command: Sequence[str] = COMMAND, rest_seconds: float = REST_SECONDS
    ) -> None:
        self._command = (*command, str(rest_seconds))
        self._process: subprocess.Popen[bytes] | None = None
        self._known: set[str] = set()
        self._is_given_up = False
        self._asking = threading.Lock()

    @classmethod
    @cache
    def shared(cls) -> CountingProcess:
        """Return the one process that all conversations of the program share."""
        process = cls()
        atexit.register(process.end)
        return process

    @property
    def pid(self) -> int | None:
        """The id of the process; None if it is not running."""
        process = self._process
        return None if process is None or process.returncode is not None else process.pid

    def knows(self, name: str) -> bool:
        """Return whether a running process has this vocabulary loaded."""
        return self.pid is not None and name in self._known

    def learn(self, name: str, vocabulary: Vocabulary) -> bool:
        """Load a model's own vocabulary; False if it is of an unknown kind. CountingFailed."""
        answer = self._ask(Learn(name, vocabulary))
        return answer is True

    def count(self, name: str, texts: Sequence[str]) -> list[int] | None:
        """Count the tokens of texts; None if the vocabulary has to be loaded first. CountingFailed.

        Shipped vocabularies are loaded by their names.
        """
        answer = self._ask(CountTexts(name, texts))
        return answer if isinstance(answer, list) else None

    def end(self) -> None:
        """End the process, also in the middle of a request; the next request starts another."""
        process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def _ask(self, request: Request) -> Answer:
        with self._asking:
            for _ in range(ATTEMPTS):
                if self._is_given_up:
                    break
                try:
                    process = self._running()
                    assert process.stdin is not None and process.stdout is not None
                    send(process.stdin, request)
                    answer = msgspec.msgpack.decode(receive(process.stdout), type=Answer)
                except (OSError, EOFError):
                    self._forget()
                    continue
                if answer is not None and answer is not False:
                    self._known.add(request.name)
                return answer
            self._is_given_up = True
            raise CountingFailed

    def _running(self) -> subprocess.Popen[bytes]:
        """Return the process; it is started if it is not there or has gone to rest."""
        if self._process is not None and self.pid is not None:
            return self._process
        self._forget()
        process = self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": str(Path(ollm_tui.__file__).parent.parent)},
            cwd="/",
            # Ctrl+C in the terminal is meant for the answer, not for this.
            start_new_session=True,
        )
        # Whoever waits for a process takes it out of the system's list as soon as it ends.
        threading.Thread(target=process.wait, daemon=True).start()
        return process

    def _forget(self) -> None:
        """End the process if it still runs, and close the pipes to it."""
        self.end()
        self._known.clear()
        process, self._process = self._process, None
        for pipe in (process.stdin, process.stdout) if process else ():
            try:
                assert pipe is not None
                pipe.close()
            except OSError:
                pass  # what was left to write is for nobody
