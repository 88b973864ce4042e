"""Writes records in the order they come, in a thread, so that no disk holds up the screen."""

from __future__ import annotations

import asyncio

from ollm_tui.services.jobs.records import JobRecord, JobRecords


class RecordQueue:
    """One writer at a time; `close` waits for the last line."""

    def __init__(self, records: JobRecords) -> None:
        self._records = records
        self._waiting: list[JobRecord] = []
        self._writing: asyncio.Task[None] | None = None

    def add(self, record: JobRecord) -> None:
        """Write this soon."""
        self._waiting.append(record)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())

    async def flush(self) -> None:
        """Wait until everything is written."""
        while self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            await asyncio.to_thread(self._write_all, batch)
        self._writing = None

    def _write_all(self, batch: list[JobRecord]) -> None:
        for record in batch:
            self._records.write(record)
