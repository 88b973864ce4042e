"""The judge against a second set of commands, written by someone who had not seen its rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.services.safety.judgement import judge
from tests.cases import every
from tests.conftest import Tell
from tests.services.safety import samples
from tests.services.safety.samples import NOT_READING, READING
from tests.services.safety.samples_examined_dangerous import DANGEROUS
from tests.services.safety.samples_examined_everyday import EVERYDAY

FILES = (
    "README.md",
    "notes.txt",
    "with space.txt",
    "data.csv",
    "data.json",
    "data.yaml",
    "src/app.py",
    "src/util.py",
    "src/run.sh",
    "docs/guide.md",
    "logs/app.log",
    "config/.env.local",
    ".env",
    ".env.production",
    ".netrc",
    ".npmrc",
    ".ssh/id_ed25519",
    "id_rsa",
    "server.pem",
    "run.sh",
    "ls",
    "a.tar",
    "../outside/secret.txt",
    "../outside/data.json",
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with secrets in it and links that lead out of it."""
    place = tmp_path_factory.mktemp("examined") / "project"
    for name in FILES:
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x\n")
    for name in ("link_out", "link-dir"):
        (place / name).symlink_to(place.parent / "outside")
    (place / "link-out").symlink_to(place.parent / "outside" / "secret.txt")
    (place / "secret_link").symlink_to(place.parent / "outside" / "secret.txt")
    return place


@every("code", DANGEROUS)
def test_what_only_looks_harmless_is_never_approved_by_itself(code: str, project: Path) -> None:
    assert judge(code, project, [project]).level != "read-only"


@every("code", EVERYDAY)
def test_everyday_reading_is_approved_by_itself(code: str, project: Path) -> None:
    judgement = judge(code, project, [project])
    assert judgement.level == "read-only", judgement.reason


def test_hardly_any_everyday_reading_asks_and_nothing_harmful_passes(
    project: Path, record_property: Tell
) -> None:
    """Of all sets together."""

    def passes(code: str) -> bool:
        return judge(code, project, [project]).level == "read-only"

    everyday = [*EVERYDAY, *READING]
    harmful = {*DANGEROUS, *NOT_READING, *samples.DANGEROUS}
    unasked = [code for code in everyday if passes(code)]
    approved = [code for code in harmful if passes(code)]
    record_property("everyday reading unasked", f"{len(unasked)}/{len(everyday)}")
    record_property("harmful approved", len(approved))
    record_property("harmful", len(harmful))
    assert approved == []
    assert len(unasked) >= 0.95 * len(everyday)


def test_the_sets_are_as_large_as_promised() -> None:
    assert len(set(DANGEROUS)) == len(DANGEROUS) >= 150
    assert len(set(EVERYDAY)) == len(EVERYDAY) >= 100
