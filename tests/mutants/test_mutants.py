"""The table of mutants is up to date, and every property of the seeds has its tests and mutants."""

from __future__ import annotations

import re

from tests.mutants.mutants import MUTANTS, PROPERTIES, REPOSITORY

TAGGED_TEST = re.compile(
    r"\ndef test_property_(\d+)_\w+\(.*?\) -> None:\n"
    r"    \"\"\"Feature: services-sessions, Property (\d+): [A-Z][\w -]+\.\"\"\"\n",
    re.DOTALL,
)


def test_every_patch_still_applies() -> None:
    for mutant in MUTANTS:
        path = REPOSITORY / "ollm_tui" / mutant.path
        assert mutant.applied(path.read_text()) != path.read_text(), mutant


def test_every_property_has_mutants_and_tests_that_carry_its_tag() -> None:
    assert {mutant.number for mutant in MUTANTS} == set(PROPERTIES)
    sources = [path.read_text() for path in (REPOSITORY / "tests/properties").glob("test_*.py")]
    tagged = [found.groups() for source in sources for found in TAGGED_TEST.finditer(source)]
    assert {int(number) for number, _ in tagged} == set(PROPERTIES)
    assert all(name == tag for name, tag in tagged)
    named = [name for source in sources for name in re.findall(r"def (test_property_\d+_)", source)]
    assert len(named) == len(tagged), "a property has a test without a tag"
