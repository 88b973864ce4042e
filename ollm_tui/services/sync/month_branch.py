"""A month of this machine: a branch of numbered segments that only this machine writes."""

from __future__ import annotations

from ollm_tui.services.sync.remote import Remote
from ollm_tui.services.sync.segments import (
    CannotRead,
    Frame,
    Link,
    Place,
    Segment,
    Talk,
    decoded,
    encoded,
    joined,
    opened_frame,
    place_of,
    sealed_frame,
)
from ollm_tui.storage.files.cipher import CannotOpenError
from ollm_tui.storage.sync.bare_git import TreeEntry
from ollm_tui.storage.sync.sync_state import Branch

SEGMENT_BYTES = 1_000_000
"""Where a segment ends and the next begins."""
SMALL_BYTES = 256_000
"""Larger segments, such as those with pictures, are sent once and never again."""


class MonthBranch:
    """What is to be added to one month; `commit` makes it ready to be pushed."""

    def __init__(self, remote: Remote, machine: str, month: str, branch: Branch) -> None:
        self._remote = remote
        self._machine = machine
        self._month = month
        self._before = branch
        self._number = branch.number
        self._chain = branch.chain
        self._files: dict[Place, str] = {}
        if branch.tip:
            for file in remote.git.listing(branch.tip):
                if place := place_of(machine, month, file.name):
                    self._files[place] = file.sha
        self._frames: list[Frame] = []
        self._bytes = 0

    def add(self, talk: Talk, hash_: bytes) -> int:
        """Add what a session has to say; returns the bytes it takes."""
        cipher = self._remote.cipher(self._machine, hash_)
        frame = sealed_frame(talk, hash_, self._next(), cipher)
        self._frames.append(frame)
        self._bytes += len(frame.sealed)
        if self._bytes >= SEGMENT_BYTES:
            self._end_segment()
        return len(frame.sealed)

    def commit(self) -> Branch:
        """Write everything into our own repository; returns the branch as it then is."""
        if self._frames:
            self._end_segment()
        entries = [TreeEntry(place.name, sha) for place, sha in sorted(self._files.items())]
        tip = self._remote.git.write_commit(entries, self._before.tip or None)
        return Branch(tip, self._number, self._chain)

    def join(self) -> None:
        """Make one of the small segments that follow each other among those not yet joined."""
        singles = sorted(place for place in self._files if place.first == place.last)
        run: list[tuple[Place, Segment, Link]] = []
        size = 0
        blobs = self._remote.git.blobs([self._files[place] for place in singles])
        for place, blob in zip(singles, blobs, strict=True):
            follows = not run or place.first == run[-1][0].last + 1
            length = len(blob) if blob is not None else SEGMENT_BYTES
            if length > SMALL_BYTES or size + length > SEGMENT_BYTES or not follows:
                self._replace(run)
                run, size = [], 0
            if blob is not None and length <= SMALL_BYTES:
                run.append((place, *decoded(blob, place, self._remote.key)))
                size += length
        self._replace(run)

    def _next(self) -> Place:
        return Place(self._machine, self._month, self._number + 1, self._number + 1)

    def _end_segment(self) -> None:
        place = self._next()
        blob, self._chain = encoded(self._frames, self._chain, place, self._remote.key)
        self._files[place] = self._remote.git.write_blob(blob)
        self._number += 1
        self._frames, self._bytes = [], 0

    def _replace(self, run: list[tuple[Place, Segment, Link]]) -> None:
        if len(run) < 2:
            return
        whole = Place(self._machine, self._month, run[0][0].first, run[-1][0].last)
        talks: dict[bytes, Talk] = {}
        for place, segment, _ in run:
            for frame in segment.frames:
                try:
                    cipher = self._remote.cipher(self._machine, frame.hash)
                    talk = opened_frame(frame, place, cipher)
                except (CannotOpenError, CannotRead):
                    continue  # the session was deleted: nobody can read this any more
                known = talks.setdefault(frame.hash, Talk(talk.session_id, []))
                known.items.extend(talk.items)
        frames = [
            sealed_frame(talk, hash_, whole, self._remote.cipher(self._machine, hash_))
            for hash_, talk in talks.items()
        ]
        blob = joined(frames, [link for _, _, link in run], whole, self._remote.key)
        for place, _, _ in run:
            del self._files[place]
        self._files[whole] = self._remote.git.write_blob(blob)
