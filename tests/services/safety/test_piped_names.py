"""`… | xargs COMMAND` runs unasked only if what xargs reads are plain names of files to read."""

from __future__ import annotations

import os
import shutil
import subprocess
from hashlib import sha1
from pathlib import Path

import pytest

from ollm_tui.services.safety.judgement import judge
from tests.cases import every

READING = (
    "git ls-files '*.py' | xargs wc -l | tail -1",
    "git ls-files -z | xargs -0 grep -l main",
    "find . -type f -name '*.py' | xargs wc -l | sort -n | tail -5",
    "find . -name package.json -not -path './node_modules/*' -print0 | xargs -0 grep -l react",
    "find src -name '*.py' | sort | head -5 | xargs -n 1 head -3",
    "find src -name '*.py' | grep -v test | xargs -r grep -n TODO",
    "grep -rl main src | xargs cat",
    "grep -lr main --include='*.py' . 2>/dev/null | xargs grep -c def",
    "rg -l main -g '*.py' | xargs -d '\\n' wc -l",
    "rg --files src | xargs -P 2 sha256sum",
    "cd src && find . -name '*.py' | xargs cat",
)
ASKING = (
    "find . | xargs",
    "find . | xargs rm",
    "find . -name '*.py' | xargs sed -i s/a/b/",
    "find . -name '*.py' | xargs sort -o x",
    "find . -name '*.py' | xargs -I{} cat {}",
    "find . -name '*.py' | xargs -a list cat",
    "find . -name '*.py' | xargs --arg-file=list cat",
    "find . -name '*.py' | xargs -d . cat",
    "find . -name '*.py' | xargs -o cat",
    "find . -name '*.py' | xargs sh -c ls",
    "find . -name '*.py' | xargs xargs cat",
    "find . -name '*.py' | xargs cat /etc/passwd",
    "find . -name '*.py' | xargs grep -R x",
    "find . -name '*.py' | xargs cat *",
    "find . -printf '/etc/%f' | xargs cat",
    "find . -ls | xargs cat",
    "find . -name .env | xargs wc -c",
    "find . -name '.e*' | xargs grep x",
    "find . | xargs cat",
    "find 'src /etc/passwd' | xargs cat",
    "xargs cat",
    "xargs cat < README.md",
    "cat README.md | xargs cat",
    "cat README.md; find src | cat | xargs cat",
    "find src; cat README.md | xargs cat",
    "find src && xargs cat",
    "echo /etc/passwd | xargs cat",
    "ls src | xargs cat",
    "find src | sort README.md | xargs cat",
    "find src | grep -v x README.md | xargs cat",
    "find src | sed -n s,x,/etc/passwd,p | xargs cat",
    "find src | cut -c 3- | xargs cat",
    "find src | head -c 9 | xargs cat",
    "grep -r main src | xargs cat",
    "grep -re -l src | xargs cat",
    "grep -r -- -l src | xargs cat",
    "grep -rl --label=/etc/passwd x - | xargs cat",
    "rg -l '( /etc/passwd' src 2>&1 | xargs cat",
    "rg -tl main | xargs cat",
    "rg -t -l main | xargs cat",
    "rg --files --null-data x | xargs cat",
    "rg -l x -r /etc/passwd | xargs cat",
    "git ls-files -s | xargs cat",
    "git ls-files ../x | xargs cat",
    "git log --format=%s | xargs cat",
    "git -C src ls-files | xargs cat",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with sources in a folder, and a secret beside it."""
    root = tmp_path / "work"
    (root / "src" / "deep").mkdir(parents=True)
    for name in ("README.md", ".env", "src/main.py", "src/deep/test_main.py"):
        (root / name).write_text("/etc/passwd\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "add", "src", "README.md"], check=True)
    return root


def level(code: str, project: Path) -> str:
    return judge(code, project, [project]).level


@every("code", READING)
def test_names_of_files_in_the_project_are_given_to_what_reads(code: str, project: Path) -> None:
    judgement = judge(code, project, [project])
    assert judgement.level == "read-only", judgement.reason


@every("code", ASKING)
def test_words_that_may_be_anything_else_are_not(code: str, project: Path) -> None:
    assert level(code, project) != "read-only"


@every("name", ("a /etc/passwd", "a\n/etc/passwd", "it's", 'a"b', "a\\b", "-x", "id_rsa", "a\tb"))
def test_one_name_that_xargs_would_read_otherwise_is_enough(name: str, project: Path) -> None:
    code = "find src -type f | xargs cat"
    assert level(code, project) == "read-only"
    file = project / "src" / "new" / name
    file.parent.mkdir(parents=True)
    file.write_text("x")
    assert level(code, project) != "read-only"
    shutil.rmtree(project / "src" / "new")


def test_a_link_that_leads_out_or_to_a_secret_is_not_followed(project: Path) -> None:
    code = "find src | xargs wc -l"
    (project / "src" / "link").symlink_to("main.py")
    assert level(code, project) == "read-only"
    (project / "src" / "out").symlink_to("/etc/passwd")
    assert level(code, project) != "read-only"
    (project / "src" / "out").unlink()
    (project / "src" / "secret").symlink_to("../.env")
    assert level("find src | xargs cat", project) != "read-only"


def add_to_index(project: Path, name: str) -> None:
    """Have the index name a file that is not on the disk."""
    blob = subprocess.run(
        ["git", "-C", project, "hash-object", "-w", "README.md"], check=True, capture_output=True
    ).stdout.strip()
    entry = b"100644 " + blob + b"\t" + os.fsencode(name) + b"\0"
    arguments = ["git", "-C", project, "update-index", "-z", "--index-info"]
    subprocess.run(arguments, input=entry, check=True)


@every("name", ("a /etc/passwd", "src/it's", "-x", "src/-x", "src/id_rsa", "gone/x"))
def test_names_in_the_index_that_are_not_on_the_disk_count_too(name: str, project: Path) -> None:
    code = "git ls-files | xargs cat"
    assert level(code, project) == "read-only"
    index = project / ".git" / "index"
    before = index.read_bytes()
    (project / "gone").symlink_to("/etc")
    add_to_index(project, name)
    assert level(code, project) != "read-only"
    index.write_bytes(before)
    (project / "gone").unlink()


def test_an_index_of_another_kind_is_not_trusted(project: Path) -> None:
    index = project / ".git" / "index"
    data = bytearray(index.read_bytes()[:-20])
    data[7] = 4
    index.write_bytes(bytes(data) + sha1(data).digest())
    assert level("git ls-files | xargs cat", project) != "read-only"
    index.write_bytes(b"DIRC")
    assert level("git ls-files | xargs cat", project) != "read-only"
