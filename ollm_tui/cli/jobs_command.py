"""`ollm jobs`: lists, shows and ends jobs, from their records on disk."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable

import msgspec

from ollm_tui.cli.output import print_json, print_table, short_time, today
from ollm_tui.cli.store import load
from ollm_tui.core.errors import JobError
from ollm_tui.core.intake import clean
from ollm_tui.core.job import Job
from ollm_tui.services.jobs.records import JobRecord, JobRecords, end_elsewhere, reconcile
from ollm_tui.storage.store_layout import StoreLayout

LONGEST_CODE = 60


def run(arguments: Namespace) -> int:
    """Run one command of the group."""
    loaded = load()
    records = JobRecords(StoreLayout(loaded.locations.sessions(loaded.settings)).jobs)
    # Jobs of a program that was killed are still recorded as running.
    reconcile(records)
    if arguments.command == "list":
        return _list(records, arguments)
    record = _found(records, arguments.job)
    if arguments.command == "show":
        return _show(record.job, as_json=arguments.json)
    end_elsewhere(record)
    print(f"{record.job.id} ended")
    return 0


def _list(records: JobRecords, arguments: Namespace) -> int:
    jobs = [
        record.job
        for record in records.all()
        if (not arguments.running or record.job.running)
        and record.job.session_id.startswith(arguments.session or "")
    ]
    jobs.sort(key=lambda job: (job.started_at, job.sequence), reverse=True)
    jobs = jobs[: arguments.limit]
    if arguments.json:
        print_json([_plain(job) for job in jobs])
    elif jobs:
        print_table([_row(job, today()) for job in jobs])
    elif arguments.running:
        print("No running jobs.")
    else:
        print("No jobs yet. !command in the chat runs one.")
    return 0


def _show(job: Job, *, as_json: bool) -> int:
    if as_json:
        print_json(_plain(job))
        return 0
    facts = {
        "job": job.id,
        "status": job.status + (f", code {job.exit_code}" if job.exit_code is not None else ""),
        "note": job.note,
        "started": short_time(job.started_at),
        "took": "" if job.duration is None else f"{job.duration / 1000:g} s",
        "in": job.cwd,
        "process": str(job.pid),
        "printed": f"{job.stdout_bytes:,} bytes, {job.stderr_bytes:,} to stderr",
        "started by": job.parent or "",
        "language": job.language,
    }
    print_table([(name, clean(value)) for name, value in facts.items() if value])
    print("\n" + clean(job.code))
    return 0


def _row(job: Job, day: str) -> tuple[str, ...]:
    words = " ".join(clean(job.code).split())
    code = words if len(words) <= LONGEST_CODE else words[: LONGEST_CODE - 1] + "…"
    note = f"  ({clean(job.note)})" if job.note else ""
    return (job.id, job.status, short_time(job.started_at, day), code + note)


def _plain(job: Job) -> dict[str, object]:
    return msgspec.to_builtins(job)


def _found(records: JobRecords, prefix: str) -> JobRecord:
    """Find a job by its id or the start of it. JobError if none or several fit."""
    every = list(records.all())
    exact = [record for record in every if record.job.id == prefix]
    return _only(exact or [record for record in every if _fits(record, prefix)], prefix)


def _fits(record: JobRecord, prefix: str) -> bool:
    return record.job.id.startswith((prefix, f"job-{prefix}"))


def _only(found: Iterable[JobRecord], prefix: str) -> JobRecord:
    records = list(found)
    if len(records) == 1:
        return records[0]
    if records:
        raise JobError(
            f"{len(records)} jobs start with {prefix!r}", "use a longer id; see ollm jobs list"
        )
    raise JobError(f"no job {prefix!r}", "see ollm jobs list")
