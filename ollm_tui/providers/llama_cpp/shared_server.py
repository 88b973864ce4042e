"""One server of embedded models for several programs: one owns it, the others ask it for a turn.

Each program has a connection to the owner, on which JSON goes to and fro, a line a message. All of
them use the same server: one that has more room than is asked for will do, so that tabs with other
windows do not make it start anew.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from ollm_tui.core.errors import ProviderError, Unavailable
from ollm_tui.providers.llama_cpp.server_process import (
    SERVER_COMMAND,
    ServerSlot,
    ServerTarget,
    ended_by_itself,
)

DESCRIPTOR_VARIABLE = "OLLM_MODEL_SERVER"
"""Names the open file through which a program asks for the shared server."""


class _Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a program asks for: a server; with no target the end of its turn, or what runs now."""

    number: int
    target: ServerTarget | None = None


class _State(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner tells after each change."""

    target: ServerTarget | None = None
    port: int = 0
    key: str = ""
    users: int = 0
    """How many requests use the server or wait for it."""
    granted: int = 0
    """The wish that is answered with this; 0 for none."""
    failed: int = 0
    """The wish that cannot be granted, and why."""
    error: str = ""
    hint: str = ""


class ModelSharing:
    """Owns the server and lends it to whoever has a connection."""

    def __init__(self, command: Sequence[str] = SERVER_COMMAND) -> None:
        self._slot = ServerSlot(command)
        self._users = 0
        self._lines = set[asyncio.StreamWriter]()
        self._serving = set[asyncio.Task[None]]()

    async def connect(self) -> int:
        """Return a file for another program to inherit; whoever starts it closes it here."""
        ours, theirs = socket.socketpair()
        task = asyncio.create_task(self._serve(ours))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        return theirs.detach()

    async def close(self) -> None:
        """End the server and all connections."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._slot.close()

    async def _serve(self, ours: socket.socket) -> None:
        """Grant the wishes of one program until it ends."""
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        self._lines.add(writer)
        turns: dict[int, asyncio.Task[None]] = {}
        try:
            while line := await reader.readline():
                wish = msgspec.json.decode(line, type=_Wish, dec_hook=_path_in)
                if wish.target:
                    turn = self._lend(writer, wish.number, wish.target)
                    turns[wish.number] = asyncio.create_task(turn)
                    self._change_users(1)
                elif wish.number in turns:
                    turns.pop(wish.number).cancel()
                    self._change_users(-1)
                else:
                    self._tell(writer, self._state(granted=wish.number))
        except (ConnectionError, msgspec.MsgspecError):
            pass  # the program is gone, or is not one of ours
        finally:
            for turn in turns.values():
                turn.cancel()
            self._lines.discard(writer)
            self._change_users(-len(turns))
            writer.close()

    async def _lend(self, writer: asyncio.StreamWriter, number: int, wanted: ServerTarget) -> None:
        """Let a program use the server until its turn is over, which cancels this."""
        try:
            async with self._slot.use(self._enough(wanted)):
                self._tell_all()
                self._tell(writer, self._state(granted=number))
                await asyncio.get_running_loop().create_future()
        except ProviderError as error:
            told = self._state(failed=number, error=error.message, hint=error.hint)
            self._tell(writer, told)

    def _enough(self, wanted: ServerTarget) -> ServerTarget:
        """Return the server that runs, if it will do, else the one that is wanted."""
        server = self._slot.server
        return server.target if server and _will_do(server.target, wanted) else wanted

    def _change_users(self, by: int) -> None:
        self._users += by
        self._tell_all()

    def _tell_all(self) -> None:
        for writer in self._lines:
            self._tell(writer, self._state())

    def _tell(self, writer: asyncio.StreamWriter, state: _State) -> None:
        if not writer.is_closing():
            writer.write(msgspec.json.encode(state, enc_hook=str) + b"\n")

    def _state(
        self, *, granted: int = 0, failed: int = 0, error: str = "", hint: str = ""
    ) -> _State:
        server = self._slot.server
        return _State(
            target=server.target if server else None,
            port=server.port if server else 0,
            key=server.key if server else "",
            users=self._users,
            granted=granted,
            failed=failed,
            error=error,
            hint=hint,
        )


class LentServer:
    """The shared server as a program sees it."""

    def __init__(self, target: ServerTarget, port: int, key: str) -> None:
        self.target = target
        self.port = port
        self.key = key

    async def has_ended(self) -> bool:
        """Return whether nobody listens at its port any more."""
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return True
        writer.close()
        return False

    def ended(self, when: str) -> Unavailable:
        """Return the error for a server that ended by itself."""
        return ended_by_itself(self.target.name, when)


class SharedSlot:
    """Asks the owner for the server; in the place of a slot that has one of its own."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)  # no command that is run here has to do with it
        self._descriptor = descriptor
        self._state = _State()
        self._has_ended = False
        self._own = 0
        self._number = 0
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None

    @property
    def server(self) -> LentServer | None:
        """The server that runs, as far as the owner has told."""
        state = self._state
        return LentServer(state.target, state.port, state.key) if state.target else None

    @property
    def busy(self) -> bool:
        """Whether the server is used, or has a model of others, who may need it any moment."""
        return self._state.users > 0 or self._state.target is not None

    @property
    def is_used_by_others(self) -> bool:
        """Whether another program uses the server now."""
        return self._state.users > self._own

    async def look(self) -> None:
        """Ask the owner what runs. Unavailable if it has ended."""
        async with self._answered():
            pass

    def serves(self, target: ServerTarget) -> bool:
        """Return whether the server that runs will do for a target."""
        return self._state.target is not None and _will_do(self._state.target, target)

    @asynccontextmanager
    async def use(self, target: ServerTarget) -> AsyncGenerator[LentServer]:
        """Use a server for `target`. Unavailable if it does not start, or the owner has ended."""
        self._own += 1
        try:
            async with self._answered(target):
                server = self.server
                if server is None:
                    raise ended_by_itself(target.name, "before it was used")
                yield server
        finally:
            self._own -= 1

    @asynccontextmanager
    async def _answered(self, target: ServerTarget | None = None) -> AsyncGenerator[None]:
        """Wait for the answer to a wish; with a target its turn is over at the end."""
        writer = await self._line()
        if self._has_ended:
            raise _owner_ended()
        self._number += 1
        number, answer = self._number, asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        _send(writer, _Wish(number=number, target=target))
        try:
            await answer
            yield
        finally:
            del self._waiting[number]
            if target:
                _send(writer, _Wish(number=number))

    async def close(self) -> None:
        """Let go of the server, which goes on for others."""
        if self._listening:
            self._listening.cancel()
        if self._writer:
            self._writer.close()
            with suppress(ConnectionError):
                await self._writer.wait_closed()
        self._writer = self._listening = None

    async def _line(self) -> asyncio.StreamWriter:
        if self._writer is None:
            # A copy: the program may begin anew within this process, and needs it once more.
            line = socket.socket(fileno=os.dup(self._descriptor))
            reader, self._writer = await asyncio.open_unix_connection(sock=line)
            self._listening = asyncio.create_task(self._listen(reader))
        return self._writer

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            while line := await reader.readline():
                try:
                    self._note(msgspec.json.decode(line, type=_State, dec_hook=_path_in))
                except msgspec.MsgspecError:
                    continue  # the rest of a line that was begun before this was made
        self._state, self._has_ended = _State(), True
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(_owner_ended())

    def _note(self, state: _State) -> None:
        self._state = state
        waiting = self._waiting.get(state.granted or state.failed)
        if waiting is None or waiting.done():
            return
        if state.granted:
            waiting.set_result(None)
        else:
            waiting.set_exception(Unavailable(state.error, state.hint))


def _owner_ended() -> Unavailable:
    return Unavailable("ollm serve was stopped", "start it again")


def _will_do(running: ServerTarget, wanted: ServerTarget) -> bool:
    return _path(running) == _path(wanted) and running.window >= wanted.window


def _path_in(_kind: type, words: str) -> Path:
    return Path(words)


def _path(target: ServerTarget) -> Path:
    return target.path.absolute()


def _send(writer: asyncio.StreamWriter, wish: _Wish) -> None:
    if not writer.is_closing():
        writer.write(msgspec.json.encode(wish, enc_hook=str) + b"\n")
