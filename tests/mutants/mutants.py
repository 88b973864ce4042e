"""The table of mutants: for each property, small changes after which it no longer holds.

Each has to be found by the tests of its property alone. A change that nothing can notice, because
another guard stands behind the one that was removed, is no mutant.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PROPERTIES = range(1, 29)


class Mutant(NamedTuple):
    """One change of the program, and what is broken by it."""

    number: int
    """The property that no longer holds."""
    broken: str
    """What is broken, as a sentence."""
    path: str
    """The file below the package."""
    before: str
    """What stands there now, exactly once."""
    after: str

    def applied(self, text: str) -> str:
        """Return the file with the change; ValueError if it does not apply."""
        if (times := text.count(self.before)) != 1:
            raise ValueError(f"{self.path} has {self.before!r} {times} times, not once")
        return text.replace(self.before, self.after)


MUTANTS = (
    Mutant(
        1,
        "Tool calls are not saved.",
        "storage/sessions/session_file.py",
        "    yield from _lines(session.tool_calls, side_files)\n",
        "",
    ),
    Mutant(
        1,
        "Tags are lost when a session is saved.",
        "services/sessions/session_library.py",
        "            writer.fold(session)\n",
        "            writer.fold(replace(session, tags=()))\n",
    ),
    Mutant(
        1,
        "Parts of a kind that is not known are lost.",
        "core/session/encoding.py",
        "return None if _RARE in data and _MARK in data else data",
        "return data",
    ),
    Mutant(
        2,
        "Counters that are zero are left out of the file.",
        "core/session/session.py",
        "class Metadata(Value, frozen=True):",
        "class Metadata(Value, frozen=True, omit_defaults=True):",
    ),
    Mutant(
        2,
        "The result of a tool has another name in the file.",
        "core/session/session.py",
        "class ToolResult(Value, frozen=True, omit_defaults=True):",
        "class ToolResult(Value, frozen=True, omit_defaults=True, rename=None):",
    ),
    Mutant(
        3,
        "Times are written without their zone.",
        "core/clock.py",
        'isoformat(timespec="microseconds") + "Z"',
        'isoformat(timespec="microseconds")',
    ),
    Mutant(
        3,
        "Times of another zone are written as if they were UTC.",
        "core/clock.py",
        "_text(moment.astimezone(UTC).replace(",
        "_text(moment.replace(",
    ),
    Mutant(
        3,
        "A space stands between date and time.",
        "core/clock.py",
        'isoformat(timespec="microseconds")',
        'isoformat(" ", timespec="microseconds")',
    ),
    Mutant(
        4,
        "Ids have no dashes.",
        "core/session/session.py",
        "return str(uuid4())",
        "return uuid4().hex",
    ),
    Mutant(
        4,
        "All ids are the same.",
        "core/session/session.py",
        "return str(uuid4())",
        'return "2f1b7a52-0f4c-4d0a-9a7e-3c5d2b9e8f10"',
    ),
    Mutant(
        4,
        "A session whose id is taken replaces the one that has it.",
        "services/sessions/session_library.py",
        "if not is_valid_name(session_id) or store.directory.has(session_id):",
        "if not is_valid_name(session_id):",
    ),
    Mutant(
        5,
        "Sessions that changed since the last listing are not read again.",
        "services/sessions/session_catalogue.py",
        "if known.get(name) != marks]",
        "if name not in known]",
    ),
    Mutant(
        5,
        "Messages are counted one too high.",
        "core/session/session_state.py",
        "message_count=len(self._messages),",
        "message_count=len(self._messages) + 1,",
    ),
    Mutant(
        5,
        "Pins are not listed.",
        "core/session/session_state.py",
        "            pinned=header.pinned,\n",
        "",
    ),
    Mutant(
        6,
        "A deleted session is only moved to the trash.",
        "services/sessions/session_library.py",
        "            self.store.trash.delete(session_id)\n        finally:",
        "            self.store.trash.put(TrashNote(session_id))\n        finally:",
    ),
    Mutant(
        6,
        "Nothing is deleted.",
        "services/sessions/session_library.py",
        "            self.store.trash.delete(session_id)\n        finally:",
        "            pass\n        finally:",
    ),
    Mutant(
        7,
        "Records stay in memory.",
        "services/sessions/recording.py",
        "        if self._recording.autosave:\n",
        "        if self.unsaved > 100:\n",
    ),
    Mutant(
        7,
        "Only every second write of records reaches the disk.",
        "storage/sessions/journal.py",
        "            for line in lines:\n",
        "            for line in lines if self.length % 2 == 0 else []:\n",
    ),
    Mutant(
        7,
        "Tool calls in the journal are not read.",
        "core/session/session_state.py",
        "                self.tool_calls.append(record.tool_call)\n",
        "                pass\n",
    ),
    Mutant(
        8,
        "One session too many stays.",
        "services/sessions/retention.py",
        "for summary in free[room:]]",
        "for summary in free[room + 1 :]]",
    ),
    Mutant(
        8,
        "The newest sessions go instead of the oldest.",
        "services/sessions/retention.py",
        "for summary in free[room:]]",
        "for summary in free[: max(0, len(free) - room)]]",
    ),
    Mutant(
        8,
        "Pinned sessions go as well.",
        "services/sessions/retention.py",
        "if not summary.pinned]",
        "if True]",
    ),
    Mutant(
        9,
        "The last activity goes back when the clock does.",
        "core/session/session_state.py",
        "activity = clock.later(self.header.last_activity, record.at)",
        "activity = record.at",
    ),
    Mutant(
        9,
        "The last activity is that of the first record.",
        "core/session/session_state.py",
        "activity = clock.later(self.header.last_activity, record.at)",
        "activity = self.header.last_activity",
    ),
    Mutant(
        9,
        "Of two times the earlier one counts.",
        "core/clock.py",
        "newer = parse(second) > parse(first)",
        "newer = parse(second) < parse(first)",
    ),
    Mutant(
        10,
        "Compression begins one token too late.",
        "engine/context/budget.py",
        "self.parts.conversation >= self.room.trigger",
        "self.parts.conversation > self.room.trigger",
    ),
    Mutant(
        10,
        "The threshold is a share of the limit, not of what is available.",
        "engine/context/budget.py",
        "min(_share(available, rules.threshold), limit - 1)",
        "min(_share(limit, rules.threshold), limit - 1)",
    ),
    Mutant(
        10,
        "Nothing is kept free for the answer.",
        "engine/context/budget.py",
        "limit = _share(window, 1 - rules.output_reserve)",
        "limit = window",
    ),
    Mutant(
        10,
        "A conversation is due only when its prompt no longer fits.",
        "engine/compression/conversation_compression.py",
        "return view.budget.needs_compression",
        "return view.budget.over_limit",
    ),
    Mutant(
        11,
        "Nothing counts as recent.",
        "engine/context/budget.py",
        "recent=min(rules.preserve_recent, _share(limit, RECENT_SHARE)),",
        "recent=0,",
    ),
    Mutant(
        11,
        "Half of the recent part is given up.",
        "engine/context/budget.py",
        "RECENT_SHARE = 0.30",
        "RECENT_SHARE = 0.15",
    ),
    Mutant(
        11,
        "The wish for a recent part is not heard.",
        "engine/context/budget.py",
        "            preserve_recent=settings.compression.preserve_recent,\n",
        "            preserve_recent=50,\n",
    ),
    Mutant(
        11,
        "The user's own words are folded.",
        "engine/compression/plan/plan.py",
        'message.id for message in older if message.role != "user"',
        "message.id for message in older",
    ),
    Mutant(
        12,
        "A context that did not become smaller is taken.",
        "engine/compression/invariants.py",
        "if after.count.tokens >= before.count.tokens:",
        "if not after.count.tokens:",
    ),
    Mutant(
        12,
        "A draft with the user's own summary is not checked again.",
        "engine/compression/conversation_compression.py",
        "            raise UsageError(checked.error, checked.hint)\n"
        "        draft = checked.draft\n",
        "            pass\n        else:\n            draft = checked.draft\n",
    ),
    Mutant(
        13,
        "A compression counts twice.",
        "core/session/session.py",
        "compression_count=metadata.compression_count + 1,",
        "compression_count=metadata.compression_count + 2,",
    ),
    Mutant(
        13,
        "Compressions are not counted.",
        "core/session/session.py",
        "        compression_count=metadata.compression_count + 1,\n",
        "",
    ),
    Mutant(
        13,
        "An undo takes a compression off the count.",
        "core/session/session.py",
        "        compressed=undone.before,\n",
        "        compressed=undone.before,\n"
        "        compression_count=metadata.compression_count - 1,\n",
    ),
    Mutant(
        14,
        "A loop is found one repetition too late.",
        "engine/loops/allowances.py",
        "return max(self._settings.repeat_threshold, self._asked + 1) + self._more",
        "return max(self._settings.repeat_threshold + 1, self._asked + 1) + self._more",
    ),
    Mutant(
        14,
        "What stands deeper in the arguments is not compared.",
        "engine/loops/canonical.py",
        "            waiting.extend(entries)\n",
        "",
    ),
    Mutant(
        14,
        "The order of arguments makes a difference.",
        "engine/loops/canonical.py",
        "in sorted(items, key=_by_key):",
        "in items:",
    ),
    Mutant(
        15,
        "Almost the same reply is a loop one repetition too late.",
        "engine/loops/replies.py",
        "        if self._times >= limit:\n",
        "        if self._times > limit:\n",
    ),
    Mutant(
        15,
        "Only equal replies count as the same.",
        "engine/loops/replies.py",
        "ALIKE = 0.9\n",
        "ALIKE = 0.99\n",
    ),
    Mutant(
        15,
        "Replies that differ much count as the same.",
        "engine/loops/replies.py",
        "ALIKE = 0.9\n",
        "ALIKE = 0.8\n",
    ),
    Mutant(
        15,
        "Replies that are alike need not follow one another.",
        "engine/loops/replies.py",
        "self._times = self._times + 1 if alike else 1",
        "self._times = self._times + 1 if alike else max(1, self._times)",
    ),
    Mutant(
        16,
        "The last round that is allowed is one too many.",
        "engine/loops/detector.py",
        "        if self._stale_rounds > allowed.stale_rounds:\n",
        "        if self._stale_rounds >= allowed.stale_rounds:\n",
    ),
    Mutant(
        16,
        "A turn may take one round more than allowed.",
        "engine/loops/detector.py",
        "        if self._stale_rounds > allowed.stale_rounds:\n",
        "        if self._stale_rounds > allowed.stale_rounds + 1:\n",
    ),
    Mutant(
        16,
        "Rounds are counted over all turns.",
        "engine/loops/detector.py",
        "        self._rounds = self._stale_rounds = 0\n",
        '        self._rounds = self._stale_rounds = getattr(self, "_stale_rounds", 0)\n',
    ),
    Mutant(
        16,
        "Rounds that bring something new are never too many.",
        "engine/loops/detector.py",
        "        if self._rounds > allowed.rounds:\n",
        "        if False:\n",
    ),
    Mutant(
        17,
        "Too many rounds do not pause the turn.",
        "engine/turn/turn.py",
        "if found := loops.round():",
        "if found := (loops.round() and None):",
    ),
    Mutant(
        17,
        "A call that repeats itself is run all the same.",
        "engine/tools/tool_calls.py",
        "            if found and not stoppable.stopped:\n",
        "            if found and stoppable.stopped:\n",
    ),
    Mutant(
        17,
        "Who said stop is asked again.",
        "engine/tools/tool_calls.py",
        "            if found and not stoppable.stopped:\n",
        "            if found:\n",
    ),
    Mutant(
        17,
        "The turn goes on after a stop.",
        "engine/loops/loop_watch.py",
        '        if answer in ("stop", "back"):\n            stoppable.stop()\n',
        '        if answer in ("stop", "back"):\n            self._detector.go_on_once()\n',
    ),
    Mutant(
        17,
        "Where nobody can be asked the turn waits for an answer.",
        "engine/loops/loop_watch.py",
        "        if not self._can_ask():\n",
        "        if found.nudge:\n",
    ),
    Mutant(
        17,
        "What was answered to a loop is not recorded.",
        "engine/loops/loop_watch.py",
        "        await self._note(found, answer)\n",
        "",
    ),
    Mutant(
        18,
        "Nothing is removed.",
        "core/session/context_entry.py",
        "for entry in entries if entry.key != key)",
        "for entry in entries)",
    ),
    Mutant(
        18,
        "A second entry with the same key stands beside the first.",
        "core/session/context_entry.py",
        "return (*without_entry(entries, entry.key), entry)",
        "return (*entries, entry)",
    ),
    Mutant(
        19,
        "New entries stand before the older ones.",
        "core/session/context_entry.py",
        "return (*without_entry(entries, entry.key), entry)",
        "return (entry, *without_entry(entries, entry.key))",
    ),
    Mutant(
        19,
        "What has expired stays, and all else goes.",
        "core/session/context_entry.py",
        "if not entry.is_over(moment))",
        "if entry.is_over(moment))",
    ),
    Mutant(
        19,
        "When an entry expires is not kept.",
        "core/session/context_entry.py",
        "    expires_at: str | None = None\n",
        "    expires_at: str | None = None\n"
        "\n"
        "    def __post_init__(self) -> None:\n"
        '        """Forget it."""\n'
        '        object.__setattr__(self, "expires_at", None)\n',
    ),
    Mutant(
        20,
        "Notes of the lowest priority are not sent.",
        "engine/context/system_prompt.py",
        "        if entry.is_users_own:\n            title",
        "        if entry.is_users_own and entry.priority:\n            title",
    ),
    Mutant(
        20,
        "Only the data of hooks is sent.",
        "engine/context/system_prompt.py",
        "        if not entry.is_users_own:\n",
        '        if not entry.is_users_own and entry.source == "hook":\n',
    ),
    Mutant(
        20,
        "Files of the user speak as the system.",
        "core/session/context_entry.py",
        'return self.source == "user" and not self.origin',
        'return self.source == "user"',
    ),
    Mutant(
        21,
        "The least important comes first.",
        "core/session/context_entry.py",
        "key=lambda entry: -entry.priority",
        "key=lambda entry: entry.priority",
    ),
    Mutant(
        21,
        "Of equal priorities the newest comes first.",
        "core/session/context_entry.py",
        "sorted(entries, key=lambda entry: -entry.priority)",
        "sorted(reversed(entries), key=lambda entry: -entry.priority)",
    ),
    Mutant(
        22,
        "Files that a build makes are found.",
        "settings/schema.py",
        '        "dist",\n',
        "",
    ),
    Mutant(
        22,
        "The program's own ignore file is not read.",
        "services/files/ignore_files.py",
        '".gitignore", ".ollmignore"',
        '".gitignore", ".ollmignored"',
    ),
    Mutant(
        22,
        "The ignore file of git is not read.",
        "services/files/ignore_files.py",
        '".gitignore", ".ollmignore"',
        '".gitignored", ".ollmignore"',
    ),
    Mutant(
        23,
        "Files one folder too deep are found.",
        "services/files/folder.py",
        "        if folders and depth < self._max_depth:\n",
        "        if folders and depth <= self._max_depth:\n",
    ),
    Mutant(
        23,
        "Files in the deepest folders that are allowed are not found.",
        "services/files/folder.py",
        "        if folders and depth < self._max_depth:\n",
        "        if folders and depth < self._max_depth - 1:\n",
    ),
    Mutant(
        24,
        "New files are reported as changed.",
        "services/files/watcher.py",
        '"change" if was_there else "add"',
        '"change"',
    ),
    Mutant(
        24,
        "Removed files are not reported.",
        "services/files/watcher.py",
        'events.append(FileEvent("unlink", path))',
        "pass",
    ),
    Mutant(
        25,
        "Nothing is denied.",
        "services/safety/environment.py",
        "(not rules.denies(name) and rules.lets_pass(name)",
        "(rules.lets_pass(name)",
    ),
    Mutant(
        25,
        "Only names in capitals are denied.",
        "services/safety/environment.py",
        "return self._denied.fullmatch(name.upper()) is not None",
        "return self._denied.fullmatch(name) is not None",
    ),
    Mutant(
        25,
        "Variables by which programs load code pass.",
        "services/safety/environment.py",
        "for name in (*deny, *STARTS_CODE)",
        "for name in deny",
    ),
    Mutant(
        26,
        "Names of the allow list count only in capitals.",
        "services/safety/environment.py",
        "        if name.upper() in exact\n",
        "        if name in exact\n",
    ),
    Mutant(
        26,
        "A deny pattern wins over a name of the allow list.",
        "services/safety/environment.py",
        "        if name.upper() in exact\n",
        "        if name.upper() in exact and not rules.denies(name)\n",
    ),
    Mutant(
        26,
        "Values are passed on without spaces at their ends.",
        "services/safety/environment.py",
        "        name: value\n        for name, value in environ.items()\n",
        "        name: value.strip()\n        for name, value in environ.items()\n",
    ),
    Mutant(
        27,
        "The strict policy passes everything that is not denied.",
        "services/safety/environment.py",
        "return self._open or self._allowed.fullmatch(name.upper()) is not None",
        "return True",
    ),
    Mutant(
        27,
        "The open policy passes only the allow list.",
        "services/safety/environment.py",
        'self._open = policy == "open"',
        'self._open = policy == "opened"',
    ),
    Mutant(
        27,
        "What is withheld is not told.",
        "services/safety/environment.py",
        "sorted(name for name in environ if name not in passed)",
        "sorted(name for name in passed if name not in environ)",
    ),
    Mutant(
        28,
        "The command line prints secrets.",
        "cli/main.py",
        "    if redactor.find(line):\n",
        "    if not line:\n",
    ),
    Mutant(
        28,
        "Hints are logged with secrets.",
        "services/logs.py",
        'fields["hint"] = self._redacted(error.hint)',
        'fields["hint"] = error.hint',
    ),
    Mutant(
        28,
        "Traces are logged with secrets.",
        "services/logs.py",
        'fields["trace"] = self._redacted(self.formatException(record.exc_info))',
        'fields["trace"] = self.formatException(record.exc_info)',
    ),
    Mutant(
        28,
        "The log does not know the secrets of the environment.",
        "services/logs.py",
        "Redactor.knowing(environ)",
        "Redactor()",
    ),
    Mutant(
        28,
        "Exports as JSON have secrets.",
        "services/export/exporting.py",
        "json_document(to_tree(without_secrets(session, redactor)))",
        "json_document(to_tree(session))",
    ),
)
