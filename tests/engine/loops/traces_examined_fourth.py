"""Turns of both kinds, the fourth set: first measured, then used to mend the rules."""

from __future__ import annotations

from tests.engine.loops.trace import Do, Event, Say, Stream, Trace, User

ASK = User("Find out why the nightly report is empty, and repair it.")
NAMES = "mon tue wed thu fri sat sun jan feb mar apr may".split()


def _edit(path: str, old: str, new: str) -> Do:
    return Do("edit_file", {"path": path, "old": old, "new": new}, "replaced 1 occurrence", True)


LOOPS: dict[str, list[Event]] = {
    "searches whose answer names the word": [
        ASK,
        *[
            Do("search_text", {"pattern": word}, f"No matches found for '{word}'")
            for word in ("report", "nightly", "empty", "rows", "cron", "job")
        ],
    ],
    "numbers of processes and ports": [
        ASK,
        *[
            Do(
                "exec",
                {"code": "./report"},
                f"=={4100 + 13 * k}==ERROR: AddressSanitizer: heap-use-after-free\n"
                f"thread 'main' ({31000 + 7 * k}) talked to 127.0.0.1:{50000 + 3 * k}\n"
                f"see _logs/2026-11-16T19_0{k}_33_120Z-debug.log, seed {1234 * (k + 1)}",
                None,
                True,
            )
            for k in range(4)
        ],
    ],
    "same empty search": [ASK, *[Do("find_files", {"pattern": "*.rpt"}, "(none)")] * 3],
    "same page read 4": [
        ASK,
        *[
            Do(
                "read_file",
                {"path": "r.py", "start": 1, "count": 100},
                "\n".join(f"{k}: code {k}" for k in range(100)),
            )
        ]
        * 4,
    ],
    "ABAB errors": [
        ASK,
        *[
            Do("exec", {"code": "report"}, "no data", False),
            Do("exec", {"code": "cron -l"}, "no crontab for root", False),
        ]
        * 4,
    ],
    "ABC w/ thinking": [
        ASK,
        *[
            e
            for _ in range(4)
            for e in (
                Say("Let me think."),
                Do("exec", {"code": "a"}, "1"),
                Do("exec", {"code": "b"}, "2"),
                Do("exec", {"code": "c"}, "3"),
            )
        ],
    ],
    "timestamps logs": [
        ASK,
        *[
            Do(
                "exec",
                {"code": "report"},
                f"2026-11-16 19:0{k}:33,12{k} ERROR report is empty (took {k + 1}.4s)",
                False,
            )
            for k in range(5)
        ],
    ],
    "pid log": [
        ASK,
        *[
            Do("exec", {"code": "svc start"}, f"report[{4000 + k}]: cannot bind port 80", False)
            for k in range(5)
        ],
    ],
    "other dates no data": [
        ASK,
        *[
            Do(
                "exec",
                {"code": f"report --date 2026-11-{10 + k}"},
                "error: the table daily is empty, nothing to report",
                False,
            )
            for k in range(7)
        ],
    ],
    "other tables denied": [
        ASK,
        *[
            Do("sql", {"q": f"select * from {w}"}, f"permission denied for table {w}", False, True)
            for w in NAMES[:8]
        ],
    ],
    "edit back forth 3 files": [ASK, *[_edit("a", "x", "y"), _edit("a", "y", "x")] * 4],
    "chmod toggles": [
        ASK,
        *[
            Do("exec", {"code": "chmod +x r"}, "", True),
            Do("exec", {"code": "chmod -x r"}, "", True),
        ]
        * 4,
    ],
    "rewrites same content": [
        ASK,
        *[Do("write_file", {"path": "r.py", "content": "print(1)\n" * 50}, "wrote 50 lines", True)]
        * 4,
    ],
    "say continuing": [ASK, *[Say("Continuing with the next step of the plan now.")] * 4],
    "say two in turn": [
        ASK,
        *[
            Say(t)
            for t in ("I will inspect the report script.", "The report script looks fine to me.")
            * 4
        ],
    ],
    "stream word": [ASK, Stream("report " * 200)],
    "stream sentence w comma": [
        ASK,
        Stream("the report is empty because the table is empty, and " * 30),
    ],
    "stream para": [
        ASK,
        Stream(
            "I should look at the cron job. It runs at night. It writes the report.\nThe "
            "report is empty. Why is it empty?\n" * 12
        ),
    ],
    "stream nums": [
        ASK,
        Stream("".join(f"Attempt {k}: still empty, trying again. " for k in range(1, 60))),
    ],
    "stream thai": [ASK, Stream("ฉันจะตรวจสอบรายงานอีกครั้ง " * 50)],
    "600 rounds": [ASK, *[Do("exec", {"code": f"q {k}"}, f"r {k * k}") for k in range(600)]],
    "stuck write": [
        ASK,
        *[
            e
            for k in range(12)
            for e in (
                Do("write_file", {"path": "r.py", "content": f"v{k}"}, "written", True),
                Do("exec", {"code": "python r.py"}, "AssertionError: report is empty", False),
            )
        ],
    ],
    "list dir ../ variants": [
        ASK,
        *[
            Do("exec", {"code": c}, "total 3\na.rpt\nb.rpt\nc.rpt")
            for c in ("ls -l", "ls -l .", "ls -l ./", "ls -l $PWD")
        ],
    ],
    "same result search w/ flags": [
        ASK,
        *[
            Do(
                "search_text",
                {"pattern": "empty", "ignore_case": k % 2 == 0, "limit": k},
                "r.py:3: if empty:\nr.py:9: empty = 1\nr.py:12: return empty",
            )
            for k in range(5)
        ],
    ],
    "asks for missing arg": [
        ASK,
        *[
            Do("exec", {"cmd": w}, "exec needs code: the command or program to run", False, True)
            for w in NAMES[:6]
        ],
    ],
    "json same w/ ts": [
        ASK,
        *[
            Do(
                "api",
                {},
                f'{{"rows": [], "made_at": "2026-11-16T19:0{k}:00Z", "took_ms": {k * 3 + 11}}}',
            )
            for k in range(5)
        ],
    ],
}

WORK: dict[str, list[Event]] = {
    "watched because the user said so": [
        User("Keep an eye on deploy.log until the deployment is finished"),
        *[Do("exec", {"code": "tail -n 2 deploy.log"}, "step 3/5: pushing\nlayer a1")] * 6,
        Do("exec", {"code": "tail -n 2 deploy.log"}, "step 5/5: done"),
    ],
    "checked until it is back because the user said so": [
        User("Keep checking the website until it comes back up."),
        *[Do("fetch", {"url": "https://x.test"}, "502 Bad Gateway", None, True)] * 8,
        Do("fetch", {"url": "https://x.test"}, "<html>welcome"),
    ],
    "read 12 logs": [
        ASK,
        *[
            Do("read_file", {"path": f"logs/{w}.log"}, f"{w}: report written with {i * 7} rows")
            for i, w in enumerate(NAMES)
        ],
    ],
    "empty logs": [ASK, *[Do("read_file", {"path": f"logs/{w}.log"}, "") for w in NAMES]],
    "query per day": [
        ASK,
        *[
            Do("sql", {"q": f"select count(*) from r where d='{w}'"}, f"{i * 13 % 7}")
            for i, w in enumerate(NAMES)
        ],
    ],
    "query per day zeros": [
        ASK,
        *[Do("sql", {"q": f"select count(*) from r where d='{w}'"}, "0") for w in NAMES],
    ],
    "rerun w/ bigger limit": [
        ASK,
        *[
            Do(
                "exec",
                {"code": f"tail -n {k} log"},
                "\n".join(f"event number {j} happened" for j in range(200 - k, 200)),
            )
            for k in (10, 20, 40, 80)
        ],
    ],
    "bisect": [
        ASK,
        *[
            Do("exec", {"code": f"run --rev {r}"}, "bad" if r > 50 else "good", False)
            for r in (100, 50, 75, 62, 56, 53, 51)
        ],
    ],
    "compile errors down": [
        ASK,
        *[
            e
            for k in range(9, 0, -1)
            for e in (
                Do("exec", {"code": "make"}, f"{k} errors generated", False),
                _edit("r.c", f"e{k}", "ok"),
            )
        ],
    ],
    "same edits other files": [ASK, *[_edit(f"{w}.py", "print(", "log(") for w in NAMES]],
    "format/commit": [
        ASK,
        *[
            e
            for w in NAMES
            for e in (
                Do("exec", {"code": f"fmt {w}"}, "formatted", True),
                Do("git", {"args": ["commit", "-qm", w]}, "", True),
            )
        ],
    ],
    "watch queue": [
        ASK,
        *[Do("exec", {"code": "queue"}, f"{100 - k * 9} jobs left", False) for k in range(11)],
    ],
    "sleep poll": [ASK, *[Do("exec", {"code": "sleep 5 && cat state"}, "starting", False)] * 15],
    "jobs list": [
        ASK,
        *[Do("jobs", {"action": "list"}, "1 running make\n2 running test", False)] * 8,
    ],
    "say progress": [
        ASK,
        *[Say(f"Checked {w}, {i * 3} rows, next one.") for i, w in enumerate(NAMES)],
    ],
    "say short oks": [
        ASK,
        Say("ok"),
        Do("exec", {"code": "a"}, "1"),
        Say("ok"),
        Do("exec", {"code": "b"}, "2"),
        Say("ok"),
        Do("exec", {"code": "c"}, "3"),
    ],
    "user thrice": [
        User("call the webhook three times"),
        *[Do("exec", {"code": "curl -X POST h"}, "accepted", False)] * 3,
    ],
    "user twenty": [User("Say 'ping' 20 times"), Stream("ping\n" * 20)],
    "user poem refrain": [
        User("a poem please"),
        Stream(
            "The rain, the rain, the rain,\nit falls on the plain again.\n\n" * 3
            + "And then the sun."
        ),
    ],
    "csv": [ASK, Stream("day,rows,state\n" + "".join(f"{w},0,empty\n" for w in NAMES * 3))],
    "ini": [ASK, Stream("".join(f"[{w}]\nenabled = true\nretries = 3\n\n" for w in NAMES))],
    "log excerpt": [
        ASK,
        Stream("".join(f"19:0{k % 10}:00 report: empty result set\n" for k in range(30))),
    ],
    "stack trace": [
        ASK,
        Stream(
            "```\n" + "".join(f"  at Report.render (report.js:{k})\n" for k in range(40)) + "```"
        ),
    ],
    "html": [ASK, Stream("".join(f"<tr><td>{k}</td><td>empty</td></tr>\n" for k in range(30)))],
    "md headings": [ASK, Stream("".join(f"## {w}\n\nNo rows were written.\n\n" for w in NAMES))],
    "plan": [
        ASK,
        Stream(
            "".join(f"Day {k}: check the report, then check the table.\n" for k in range(1, 15))
        ),
    ],
    "pros cons": [ASK, Stream("".join(f"**{w}**\n- Pro: simple\n- Con: slow\n\n" for w in NAMES))],
    "regex explain": [
        ASK,
        Stream(
            "`a+` means one or more a. `b+` means one or more b. `c+` means one or more c. "
            "`d+` means one or more d. `e+` means one or more e. `f+` means one or more f."
        ),
    ],
    "counting rhyme": [
        ASK,
        Stream(
            "One little, two little, three little stars,\nFour little, five little, six "
            "little stars,\nSeven little, eight little, nine little stars,\nTen little "
            "stars at night.\n"
        ),
    ],
    "haha": [ASK, Stream("Hahaha! That is a good one. Ha ha ha ha ha. Now to the report.")],
}

TRACES = [
    *(Trace(name, True, events) for name, events in LOOPS.items()),
    *(Trace(name, False, events) for name, events in WORK.items()),
]
