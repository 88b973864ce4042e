"""Turns of both kinds, the third set: first measured, then used to mend the rules."""

from __future__ import annotations

from tests.engine.loops.trace import Do, Event, Say, Stream, Trace, User

ASK = User("Make the importer work with the new schema.")
NAMES = "north east south west upper lower inner outer left right first last".split()


def _edit(path: str, old: str, new: str) -> Do:
    return Do("edit_file", {"path": path, "old": old, "new": new}, f"edited {path}", True)


LOOPS: dict[str, list[Event]] = {
    "ls in 3 dirs cyc": [
        ASK,
        *[Do("exec", {"code": f"ls {d}"}, f"{d}a\n{d}b\n{d}c") for d in ("x", "y", "z")] * 4,
    ],
    "identical http 500": [
        ASK,
        *[Do("http_get", {"url": "http://h/a"}, "500 Internal Server Error")] * 4,
    ],
    "identical None results": [ASK, *[Do("search", {"q": "schema importer"})] * 4],
    "sql no rows": [ASK, *[Do("sql", {"query": "select * from t where id=1"}, "(0 rows)")] * 4],
    "sql reworded no rows": [
        ASK,
        *[
            Do(
                "sql",
                {"query": f"select * from t where {w}=1"},
                'ERROR: relation "t" does not exist',
            )
            for w in NAMES[:7]
        ],
    ],
    "retry w/ attempt arg": [
        ASK,
        *[
            Do("http_get", {"url": "http://h/a", "attempt": k}, "error: connection refused by host")
            for k in range(7)
        ],
    ],
    "write same then test": [
        ASK,
        *[
            Do("write_file", {"path": "a", "content": "v"}, "ok", True),
            Do("exec", {"code": "make test"}, "make: *** [test] Error 2", False),
        ]
        * 5,
    ],
    "toggle config json": [
        ASK,
        *[
            e
            for v in ("true", "false") * 5
            for e in (
                Do("write_file", {"path": "c.json", "content": f'{{"strict": {v}}}'}, "ok", True),
                Do("exec", {"code": "npm t"}, f"failed with strict {v}", False),
            )
        ],
    ],
    "apology": [
        ASK,
        *[Say("You're right, I apologize for the mistake. Let me fix that for you right away!")]
        * 3,
    ],
    "apology near": [
        ASK,
        *[
            Say(
                f"You're right, I apologize for the {w} mistake. Let me fix that for you "
                f"right away!"
            )
            for w in ("earlier", "previous", "former", "last")
        ],
    ],
    "let me check chant": [ASK, Stream("Let me check the schema. " * 45)],
    "actually wait chant": [ASK, Stream("Actually, wait. No, that's right. Actually, wait. " * 30)],
    "json chant prose": [ASK, Stream("schema -> importer -> schema -> importer -> " * 40)],
    "newline chant": [ASK, Stream("Done.\n" * 200)],
    "and and": [ASK, Stream("and " * 300)],
    "cyrillic chant": [ASK, Stream("Сейчас я проверю схему ещё раз. " * 40)],
    "japanese chant": [ASK, Stream("もう一度スキーマを確認します。" * 50)],
    "long para chant 4x": [
        ASK,
        Stream(
            "The importer maps each field of the old schema to a field of the new one, and "
            "where a field is missing it falls back to the default value that the schema "
            "names; this is checked at the start. " * 8
        ),
    ],
    "edit same fail 11x": [
        ASK,
        *[
            e
            for k in range(12)
            for e in (
                _edit("imp.py", f"x{k}", f"x{k + 1}"),
                Do(
                    "exec",
                    {"code": "python imp.py"},
                    "Traceback (most recent call last):\n  File imp.py\nKeyError: 'id'",
                    False,
                ),
            )
        ],
    ],
    "git cycle": [
        ASK,
        *[
            Do("git", {"args": ["diff"]}, "+a\n-b\n c"),
            Do("git", {"args": ["status"]}, "M imp.py"),
            Do("read_file", {"path": "imp.py"}, "import x\nx.run()\n"),
        ]
        * 4,
    ],
    "read beyond end": [
        ASK,
        *[
            Do(
                "read_file",
                {"path": "imp.py", "start": 1000 + k},
                "start is beyond the end of the file (120 lines)",
                False,
                True,
            )
            for k in range(6)
        ],
    ],
    "unknown tool": [
        ASK,
        *[
            Do("apply_patch", {"patch": w}, "unknown tool apply_patch", False, True)
            for w in NAMES[:6]
        ],
    ],
    "invalid args": [
        ASK,
        *[
            Do("edit_file", {"file": w}, "invalid arguments: missing path", False, True)
            for w in NAMES[:6]
        ],
    ],
    "docker fail ids": [
        ASK,
        *[
            Do(
                "exec",
                {"code": "docker build ."},
                f"Step 3/9 failed\nimage sha256:{k * 99991 + 12345:064x}\nno space left on device",
                False,
            )
            for k in range(5)
        ],
    ],
    "uuid": [
        ASK,
        *[
            Do(
                "create_job",
                {"n": 1},
                f"job 3f2a{k}c1e-9b1d-4c7e-8a2f-5d6e7f8a9b{k}c rejected: quota",
                False,
            )
            for k in range(5)
        ],
    ],
    "period 4 w/ changes not new": [
        ASK,
        *[_edit("a", "1", "2"), _edit("a", "2", "1"), _edit("b", "1", "2"), _edit("b", "2", "1")]
        * 4,
    ],
}

WORK: dict[str, list[Event]] = {
    "paging api cursor": [
        ASK,
        *[
            Do(
                "http_get",
                {"url": f"http://h/a?cursor={w}"},
                f'{{"items":["{w}1","{w}2"],"next":"{NAMES[(i + 1) % 12]}"}}',
            )
            for i, w in enumerate(NAMES)
        ],
    ],
    "poll deploy": [
        ASK,
        *[
            Do("exec", {"code": "deploy status"}, f"deploying: {k}/20 hosts done", False)
            for k in range(20)
        ],
    ],
    "poll unchanged 10 then done": [
        ASK,
        *[Do("exec", {"code": "ci status"}, "pending", False)] * 10,
        Do("exec", {"code": "ci status"}, "passed", False),
    ],
    "tail -50 overlap": [
        ASK,
        *[
            Do(
                "exec",
                {"code": "tail -50 log"},
                "\n".join(f"line {k} of the import of {NAMES[k % 12]}" for k in range(s, s + 50)),
            )
            for s in range(0, 60, 5)
        ],
    ],
    "12 files read + edit + test ok": [
        ASK,
        *[
            e
            for w in NAMES
            for e in (
                Do("read_file", {"path": w}, f"schema {w}"),
                _edit(w, "old", "new"),
                Do("exec", {"code": f"test {w}"}, "ok", False),
            )
        ],
    ],
    "same warning each file": [
        ASK,
        *[
            Do("exec", {"code": f"tsc {w}.ts"}, "warning: deprecated option", False)
            for w in NAMES[:4]
        ],
    ],
    "mkdir many": [ASK, *[Do("exec", {"code": f"mkdir {w}"}, "", None) for w in NAMES]],
    "git add many": [ASK, *[Do("exec", {"code": f"git add {w}"}, "", None) for w in NAMES]],
    "wc many": [
        ASK,
        *[
            Do("exec", {"code": f"wc -l {w}"}, f"{i * 3 + 9} {w}", None)
            for i, w in enumerate(NAMES)
        ],
    ],
    "grep none then narrow": [
        ASK,
        *[Do("search_text", {"pattern": "schema", "path": w}, "no matches") for w in NAMES[:4]],
        Do("search_text", {"pattern": "schema", "path": "src"}, "src/a:1: schema"),
    ],
    "test fix 10": [
        ASK,
        *[
            e
            for k in range(10)
            for e in (
                Do(
                    "exec",
                    {"code": "pytest -q"},
                    f"FAILED test_{NAMES[k]}\n{10 - k} failed, {k} passed",
                    False,
                ),
                _edit("imp.py", NAMES[k], NAMES[k + 1]),
            )
        ],
    ],
    "two undo": [
        ASK,
        _edit("a", "1", "2"),
        _edit("a", "2", "1"),
        _edit("a", "1", "3"),
        _edit("a", "3", "1"),
        _edit("a", "1", "4"),
    ],
    "ask same q": [
        x
        for _ in range(4)
        for x in (User("status?"), Do("exec", {"code": "st"}, "all good"), Say("All good."))
    ],
    "user wants 10x": [
        User("Run ./bench 10 times and give me the mean"),
        *[Do("exec", {"code": "./bench"}, f"{3.1 + k / 100:.2f}s", False) for k in range(10)],
    ],
    "user watch": [
        User("keep checking the server until it is up"),
        *[Do("exec", {"code": "curl -s h"}, "connection refused", False)] * 12,
    ],
    "table": [
        ASK,
        Stream("| a | b |\n|---|---|\n" + "".join(f"| yes | no {k} |\n" for k in range(80))),
    ],
    "checklist": [
        ASK,
        Stream("".join(f"- [ ] verify the mapping of field {k}\n" for k in range(30))),
    ],
    "numbered same": [ASK, Stream("".join(f"{k}. Verify mapping {k}.\n" for k in range(1, 60)))],
    "code": [ASK, Stream("```python\n" + "".join(f"x = f{k}(x)\n" for k in range(100)) + "```")],
    "indented code": [
        ASK,
        Stream(
            "Try this:\n\n" + "".join(f"    x = f{k}(x)\n" for k in range(60)) + "\nThat is all."
        ),
    ],
    "ascii bars": [
        ASK,
        Stream("".join(f"{w:<8} {'#' * (i + 3)}\n" for i, w in enumerate(NAMES * 3))),
    ],
    "box": [ASK, Stream("+----+----+\n|    |    |\n" * 6 + "+----+----+\n")],
    "refrain": [
        ASK,
        Stream(
            "".join(
                f"Down by the {w} water I lay,\nOh hey, oh hey, oh hey.\nDown by the {w} "
                f"water I stay,\nOh hey, oh hey, oh hey.\n\n"
                for w in NAMES[:6]
            )
        ),
    ],
    "haiku list": [
        ASK,
        Stream(
            "".join(
                f"The {w} wind rises,\nleaves fall on the {w} path,\nsilence in the {w}.\n\n"
                for w in NAMES[:8]
            )
        ),
    ],
    "interview": [
        ASK,
        Stream(
            "".join(f"**Q:** What about the {w} field?\n\n**A:** It is mapped.\n\n" for w in NAMES)
        ),
    ],
    "changelog": [ASK, Stream("".join(f"* {w}: updated dependencies\n" for w in NAMES * 3))],
    "multiplication": [ASK, Stream("".join(f"7 times {k} is {7 * k}.\n" for k in range(1, 30)))],
    "alphabet": [
        ASK,
        Stream(" ".join(f"{c} is for {w}." for c, w in zip("abcdefghijkl", NAMES, strict=True))),
    ],
    "lorem rep names": [
        ASK,
        Stream(
            " ".join(
                f"The {w} importer reads the {w} schema and writes the {w} table." for w in NAMES
            )
        ),
    ],
    "one-number sentences lines": [
        ASK,
        Stream("".join(f"Step {k} is complete and verified.\n" for k in range(1, 40))),
    ],
}

TRACES = [
    *(Trace(name, True, events) for name, events in LOOPS.items()),
    *(Trace(name, False, events) for name, events in WORK.items()),
]
