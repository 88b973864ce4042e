"""Labelled turns written apart from the rules, and measured before they were looked at."""

from __future__ import annotations

from tests.engine.loops.trace import Do, Event, Say, Stream, Trace, User

SOURCE = [f"    total += prices[{n}] * quantities[{n}]  # row {n}" for n in range(600)]
TRACEBACK = """Traceback (most recent call last):
  File "/srv/app/main.py", line 41, in <module>
    start(settings)
  File "/srv/app/boot.py", line 12, in start
    raise KeyError("DATABASE")
KeyError: 'DATABASE'
"""
TSC = "src/view.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.\n"
JEST = (
    "Tests: 2 failed, 31 passed, 33 total\nTime: {} s\nRan all test suites.\n● cart › adds an item"
)


def bash(command: str, output: str, *, changed: bool | None = None) -> Do:
    """A command line."""
    return Do("Bash", {"command": command, "timeout": 120000}, output, changed)


def view(start: int, end: int) -> Do:
    """A range of lines of one file."""
    return Do(
        "view",
        {"file_path": "/srv/app/sum.py", "view_range": [start, end]},
        "\n".join(SOURCE[start:end]),
    )


LOOPS: dict[str, list[Event]] = {
    "the program is started again and again": [bash("python main.py", TRACEBACK)] * 4,
    "the compiler is asked again": [
        Say("Let me compile."),
        bash("npx tsc --noEmit", TSC),
        Say("Let me see if it compiles now."),
        bash("npx tsc --noEmit", TSC),
        Say("One more time."),
        bash("npx tsc --noEmit", TSC),
    ],
    "jest with another duration each time": [
        bash("npm test", JEST.format(t)) for t in ("3.214", "2.98", "3.5")
    ],
    "container ids differ": [
        bash("docker run app", f"container 9f{n}e1c77ab{n}0 exited: port 80 is in use")
        for n in range(4)
    ],
    "listing a directory": [Do("LS", {"path": "."}, "README.md\nsrc\ntests\npackage.json")] * 5,
    "a web page that is gone": [
        Do(
            "fetch_url",
            {"url": "https://x.test/a", "headers": {"accept": ["*/*"]}},
            "404",
            None,
            True,
        )
    ]
    * 3,
    "nested arguments, no answer known": [
        Do("query", {"filter": {"and": [{"a": 1}, {"b": {"c": [1, 2, {"d": None}]}}]}})
    ]
    * 3,
    "globs that all give the same files": [
        Do("Glob", {"pattern": p}, "src/a.ts\nsrc/b.ts\nsrc/c.ts\nsrc/d.ts")
        for p in ("**/*.ts", "src/**/*.ts", "src/*.ts", "./src/*.ts")
    ],
    "one command in many dresses": [
        bash(c, TRACEBACK)
        for c in (
            "python main.py",
            "python3 main.py",
            "python -u main.py",
            "cd . && python main.py",
        )
    ],
    "the patch never fits": [
        Do(
            "apply_patch",
            {"patch": f"@@ -{n} +{n} @@\n-a\n+b"},
            "Error: patch does not apply",
            None,
            True,
        )
        for n in range(8)
    ],
    "a status page and a log in turn": [
        bash("systemctl is-active app", "inactive"),
        bash("tail -n 3 app.log", "boot\nno DATABASE set\nbye"),
    ]
    * 4,
    "four steps round": [
        bash("git status -s", " M a.py"),
        bash("git diff --stat", " a.py | 2 +-"),
        Do("Read", {"file_path": "a.py"}, "x = 1\ny = 2\nprint(x + y)"),
        Do("Grep", {"pattern": "x"}, "a.py:1:x = 1"),
    ]
    * 3,
    "a value changed and changed back": [
        Do("write_file", {"path": "v", "content": "1"}, "written 1 byte", True),
        Do("write_file", {"path": "v", "content": "2"}, "written 1 byte", True),
    ]
    * 4,
    "install, remove, install, remove": [
        bash("pip install left", "Successfully installed left-1.0", changed=True),
        bash("pip uninstall -y left", "Successfully uninstalled left-1.0", changed=True),
    ]
    * 3,
    "the same window shifted by a few lines": [view(n, n + 120) for n in (0, 10, 4, 15, 8, 2)],
    "the job is over and still asked": [
        Do("wait_job", {"id": "j1"}, "exited with exit code 1 after 3.2 s")
    ]
    * 4,
    "a queue that never moves": [Do("check_queue", {}, '{"state": "queued", "ahead": 4}')] * 40,
    "the apology": [
        Say("I apologize for the confusion. Let me fix the import in the module right away."),
        Say("I apologise for the confusion. Let me fix the import in the module right away."),
        Say("I apologize for the confusion! Let me fix the import in that module right away."),
    ],
    "a long plan told again": [
        Say("Here is my plan. " + " ".join(f"{w} comes next and is checked." for w in words))
        for words in (
            "parsing rendering loading saving testing linting packing sending".split(),
            "parsing rendering loading saving testing linting packing sending".split(),
            "parsing rendering loading saving testing linting packing mailing".split(),
        )
    ],
    "nothing is said": [Say("")] * 3,
    "asked for three, done for ever": [
        User("could you run the script three times?"),
        *[bash("./roll.sh", "4\n4\n4 and that is all there is")] * 9,
    ],
    "a chant of two sentences": [Stream("Wait, let me think. Actually, no. " * 25)],
    "a chant after good prose": [
        Stream(
            "The cause is a missing variable. It should be set in the unit file of the service. "
            + "So we set it. And then we restart it. " * 20
        )
    ],
    "one word": [Stream("very " * 120)],
    "a chant with gaps": [
        Stream(
            " ".join(
                "I should look at the parser now."
                if n % 4
                else f"The thing with {'abcdefghijklmnopqrstuvwxyz'[n // 4]} matters."
                for n in range(40)
            )
        )
    ],
    "chinese": [Stream("我需要再检查一下这个文件。" * 40)],
    "a section again and again": [
        Stream(
            (
                "## Summary\n"
                + "The change is ready and was tested on all machines we have. " * 6
                + "\n"
            )
            * 5
        )
    ],
    "too many rounds of honest work": [bash(f"step {n}", f"did part {n * 17}") for n in range(501)],
}

WORK: dict[str, list[Event]] = {
    "one range after the other": [view(n, n + 80) for n in range(0, 560, 80)],
    "head and tail": [
        bash("head -50 sum.py", "\n".join(SOURCE[:50])),
        bash("head -100 sum.py", "\n".join(SOURCE[:100])),
        bash("head -200 sum.py", "\n".join(SOURCE[:200])),
        bash("head -400 sum.py", "\n".join(SOURCE[:400])),
    ],
    "pages of an api": [
        Do("http_get", {"url": "/items", "page": n}, f'[{{"id": {n}, "name": "item {n}"}}]')
        for n in range(30)
    ],
    "type errors fixed one by one": [
        event
        for n in range(9)
        for event in (
            bash("npx tsc --noEmit", TSC * (9 - n)),
            Do("Edit", {"file": "src/view.ts", "from": f"a{n}", "to": f"b{n}"}, "OK", True),
        )
    ],
    "a fix that does not help yet": [
        event
        for n in range(6)
        for event in (
            bash("npm test", JEST.format(n + 2)),
            bash(f"sed -i 's/v{n}/v{n + 1}/' cart.ts", ""),
        )
    ],
    "licences added": [
        bash(f"sed -i '1i // MIT' src/{name}.ts", "", changed=True)
        for name in "one two three four five six seven eight nine ten".split()
    ],
    "tables migrated": [
        Do("sql", {"q": f"ALTER TABLE {t} ADD COLUMN at timestamp"}, "ALTER TABLE")
        for t in "users orders items carts mails logs tags".split()
    ],
    "pictures converted": [
        bash(f"convert {n}.png {n}.webp", "") for n in "sun moon tree road lake hill".split()
    ],
    "services restarted": [
        bash(f"systemctl restart {s} && systemctl is-active {s}", "active")
        for s in "web api mail cron cache db search queue".split()
    ],
    "modules tested one by one": [
        bash(f"pytest tests/{m}", f"{'.' * 5}\n5 passed in 0.{i}2s")
        for i, m in enumerate("auth cart mail user shop news".split())
    ],
    "the build is watched": [
        *[Do("build_status", {"id": 88}, '{"phase": "building", "step": "link"}')] * 22,
        Do("build_status", {"id": 88}, '{"phase": "finished"}'),
    ],
    "pods come up": [
        *[bash("kubectl get pods", "NAME   READY  STATUS\nweb-1  0/1    ContainerCreating")] * 9,
        bash("kubectl get pods", "NAME   READY  STATUS\nweb-1  1/1    Running"),
    ],
    "sleep and look": [
        *[bash("sleep 30; tail -1 train.log", "epoch 3")] * 5,
        *[bash("sleep 30; tail -1 train.log", "epoch 4")] * 5,
    ],
    "the server asks for patience": [
        *[Do("api", {"path": "/v1/x"}, "429 Too Many Requests, retry after 2s", None, True)] * 4,
        Do("api", {"path": "/v1/x"}, '{"ok": true, "items": [1, 2, 3]}'),
    ],
    "downloading": [Do("download_progress", {}, f"{n} % of 812 MB") for n in range(0, 100, 4)],
    "twice is not a loop": [
        bash("make", TRACEBACK),
        bash("make", TRACEBACK),
        bash("env", "A=1\nB=2\nC=3"),
    ],
    "two rounds of two": [
        bash("ls", "a\nb\nc"),
        bash("cat a", "1\n2\n3"),
        bash("ls", "a\nb\nc"),
        bash("cat a", "1\n2\n3"),
        bash("cat b", "4\n5\n6"),
    ],
    "flaky tests counted": [
        User("The login test is flaky. Run it 15x and count the failures."),
        *[bash("pytest -k login", "1 passed in 0.4s")] * 15,
    ],
    "a dozen rolls": [
        User("Now roll the dice a dozen times."),
        *[Do("roll", {"sides": 6}, "4")] * 12,
    ],
    "watching because it was wanted": [
        User("Poll the health endpoint every 10 seconds until it is up."),
        *[Do("http_get", {"url": "/health"}, "502 Bad Gateway", None, True)] * 14,
        Do("http_get", {"url": "/health"}, "200"),
    ],
    "files that may be there": [
        Do("Read", {"file_path": f}, f"File not found: {f}", None, True)
        for f in (".eslintrc", "tsconfig.json", "vite.config.ts", "package.json", "deno.json")
    ],
    "the same note for every module": [
        event
        for m in "auth cart mail user shop news blog wiki".split()
        for event in (
            Say("Moving on to the next module."),
            bash(f"wc -l {m}.py", f"{len(m) * 31} {m}.py"),
        )
    ],
    "translations": [
        Say(t)
        for t in (
            "Chapter one is translated; it was mostly about the sea.",
            "Chapter two went well too, though the dialogue took some care.",
            "The third chapter has many names, which I left as they are.",
            "Chapter four is short.",
        )
    ],
    "numbers that fall": [
        Say(f"There are {n} errors left in the project, going on.") for n in (9, 7, 4, 2)
    ],
    "three small questions": [
        User("hi"),
        Say("Hello!"),
        User("hello?"),
        Say("Hello!"),
        User("hey"),
        Say("Hello!"),
    ],
    "config of zeros": [
        Stream("The matrix:\n\n```\n" + "0 0 0 0 0 0 0 0\n" * 40 + "```\nAs you see, all zero.")
    ],
    "checklist": [Stream("\n".join(f"{n}. [ ] Check that page {n} loads" for n in range(1, 60)))],
    "markdown table of results": [
        Stream("Result:\n\n" + "\n".join(f"test_{n} | passed | 0.1 s" for n in range(80)))
    ],
    "essay with a figure of speech": [
        Stream(
            "We shall fight on the beaches. We shall fight on the landing grounds. We shall fight "
            "in the fields and the streets. We shall fight in the hills. We shall never surrender. "
            "That is what he said, and he said it again and again and again and again and again, "
            "because it had to be heard by those who were far away and by those who were near."
        )
    ],
    "steps with the same ending": [
        Stream(
            " ".join(
                f"First open the {a} panel and choose {b}, then press Save and wait for a moment."
                for a, b in zip(
                    "left right upper lower inner outer".split(),
                    "blue red green black white grey".split(),
                    strict=True,
                )
            )
        )
    ],
    "diff in a fence": [
        Stream(
            "Here:\n~~~diff\n"
            + "".join(f"-    return None\n+    return {n}\n" for n in range(40))
            + "~~~\n"
        )
    ],
    "letters counted": [
        Stream("The word is: " + "ha" * 20 + "! That was funny, was it not? " + "-" * 80)
    ],
}

TRACES = [
    *(Trace(name, True, events) for name, events in LOOPS.items()),
    *(Trace(name, False, events) for name, events in WORK.items()),
]
