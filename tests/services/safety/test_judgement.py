"""Commands are judged by what they could do, not by what they look like."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.services.safety.judgement import (
    LONGEST_CODE,
    CommandJudgement,
    judge,
    judge_python,
)
from tests.cases import every
from tests.services.safety.samples import DANGEROUS, NOT_READING, ORDINARY, READING

DANGEROUS_TOKENS = (
    *(
        "$(id)",
        "`id`",
        "> x",
        ">> x",
        "< /etc/x",
        "& id",
        "| sh",
        "| xargs rm",
        "; rm x",
        "&& make",
    ),
    *("|| curl x", "\nmake", "; make", "${x}", "$x", "$'x'", "<(id)", ">(id)", "{a,b}", "; x=1"),
    *(
        "; eval x",
        "; . ./x",
        "| tee x",
        "| awk -f x",
        "\\\nid",
        "; (id)",
        "; ! id",
        "; f() { id; }",
    ),
    *(
        "\r",
        "\x1b[2K",
        "\u202e",
        "\u200b",
        "\x00",
        "; PATH=. ls",
        "| sed -i x",
        "; cat /etc/passwd",
    ),
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project with links that lead out of it."""
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "outside.txt").write_text("not yours")
    for name in ("README.md", "notes.txt", "src/main.py", "src/id_rsa", ".env", ".env.example"):
        (root / name).write_text("text\n")
    (root / "link-out").symlink_to(tmp_path / "outside.txt")
    (root / "link-dir").symlink_to(tmp_path / "elsewhere")
    return root


def judged(code: str, project: Path) -> CommandJudgement:
    return judge(code, project, [project])


@every("code", READING)
def test_everyday_reading_is_read_only(code: str, project: Path) -> None:
    assert judged(code, project).level == "read-only", judged(code, project).reason


@every("code", NOT_READING)
def test_what_only_looks_harmless_is_not_read_only(code: str, project: Path) -> None:
    judgement = judged(code, project)
    assert judgement.level != "read-only"
    assert judgement.reason
    assert "\n" not in judgement.reason


@every("code", DANGEROUS)
def test_what_cannot_be_taken_back_is_dangerous(code: str, project: Path) -> None:
    assert judged(code, project).level == "dangerous", judged(code, project).reason


@every("code", ORDINARY)
def test_what_changes_something_is_ordinary(code: str, project: Path) -> None:
    judgement = judged(code, project)
    assert judgement.level == "ordinary", judgement.reason


def test_the_suites_are_as_large_as_promised() -> None:
    assert len(set(READING)) >= 40
    assert len(set(NOT_READING)) >= 60


@given(st.sampled_from(READING), st.sampled_from(DANGEROUS_TOKENS), st.booleans())
def test_a_dangerous_token_anywhere_behind_a_word_never_stays_read_only(
    project: Path, code: str, token: str, first: bool
) -> None:
    if code.startswith("#"):
        return  # in a note it would be one
    head, gap, tail = code.partition(" ")
    with_token = f"{head} {token}{gap}{tail}" if first and "'" not in code else f"{code} {token}"
    assert judged(with_token, project).level != "read-only"


@pytest.mark.parametrize("before", ["{", "echo {1", "echo {1..", "{{12.."])
def test_a_rare_character_where_a_digit_may_stand_does_not_end_the_program(
    before: str, project: Path
) -> None:
    for number in range(0x1000, 0x110000, 0x1000):
        assert judged(before + chr(number), project).level != "read-only"


@given(st.text(max_size=300))
def test_no_text_takes_the_judgement_down(project: Path, code: str) -> None:
    assert judged(code, project).reason
    assert judge_python(code, project, [project]).level != "read-only"


@given(st.text(alphabet="ls cat$(){}[]<>|&;'\"`\\\n\t#!~*?=-rf/.", max_size=200))
def test_no_heap_of_shell_signs_takes_the_judgement_down(project: Path, code: str) -> None:
    assert judged(code, project).reason


@given(st.binary(max_size=300))
def test_no_bytes_take_the_judgement_down(project: Path, code: bytes) -> None:
    assert judged(code.decode("utf-8", "surrogateescape"), project).reason
    assert judged(code.decode("latin-1"), project).reason


@given(st.text(alphabet="abcls-/. '\"*?;|&\n", max_size=40))
def test_what_is_read_only_consists_of_commands_on_the_list(project: Path, code: str) -> None:
    judgement = judged(code, project)
    if judgement.level == "read-only":
        assert {argv[0] for argv in judgement.argvs} <= {"ls", "cal", "ss", "cc", "cd"}


def test_code_that_is_too_long_to_be_looked_through_always_asks(project: Path) -> None:
    assert judged("ls " + "a" * LONGEST_CODE, project).level == "dangerous"
    assert judge_python("1" * (LONGEST_CODE + 1), project, [project]).level == "dangerous"


def test_the_reason_is_one_line_whatever_stands_in_the_command(project: Path) -> None:
    reason = judged("sort '-x\n\n" + "y" * 500 + "'", project).reason
    assert "\n" not in reason
    assert len(reason) <= 200


def test_the_words_of_plain_commands_are_told(project: Path) -> None:
    assert judged("cat 'a b' | head -5; make", project).argvs == (
        ("cat", "a b"),
        ("head", "-5"),
        ("make",),
    )


def test_a_second_directory_of_the_scope_may_be_read(project: Path, tmp_path: Path) -> None:
    code = f"cat {tmp_path}/elsewhere/x"
    assert judged(code, project).level == "ordinary"
    assert judge(code, project, [project, tmp_path / "elsewhere"]).level == "read-only"


def test_a_pattern_that_stands_for_a_link_out_of_the_project_asks(project: Path) -> None:
    assert judged("cat src/*.py", project).level == "read-only"
    (project / "src" / "more.py").symlink_to("/etc/passwd")
    assert judged("cat src/*.py", project).level != "read-only"


@pytest.mark.parametrize(
    "code",
    (
        "import shutil; shutil.rmtree('x')",
        "import os; os.system('rm -rf x')",
        "import subprocess; subprocess.run(['sudo', 'ls'])",
        "cmd('git', ['push', '--force'])",
        "open('/etc/motd', 'w')",
        "open('.git/hooks/pre-commit', 'w')",
        "print(open('/root/.ssh/id_rsa').read())",
    ),
)
def test_clearly_dangerous_python_is_dangerous(code: str, project: Path) -> None:
    assert judge_python(code, project, [project]).level == "dangerous"


@pytest.mark.parametrize(
    "code", ("print(1)", "open('x', 'w').write('y')", "def (", "open('/etc/os-release')")
)
def test_other_python_is_ordinary(code: str, project: Path) -> None:
    assert judge_python(code, project, [project]).level == "ordinary"
