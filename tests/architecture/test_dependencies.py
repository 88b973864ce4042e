"""What the package imports and what `pyproject.toml` declares are the same."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain

from tests.architecture.source import PACKAGE, files, imported
from tests.conftest import REPOSITORY

OURS = {PACKAGE.name, *sys.stdlib_module_names}
FOR_WORKING_ON_IT = "dev"
"""The extra of the tests and tools: nothing of it counts as declared, and no user has it."""


def plain(name: str) -> str:
    """A distribution as all its spellings have it: PyYAML>=6 is pyyaml."""
    return re.split(r"[^\w.-]", name.strip())[0].lower().replace("_", "-").replace(".", "-")


def declared() -> set[str]:
    """What a user can get: the dependencies and the extras."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    del extras[FOR_WORKING_ON_IT]
    return {plain(name) for name in chain(project["dependencies"], *extras.values())}


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    distributions = packages_distributions()
    known, used, missing = declared(), set[str](), set[str]()
    for name, path in files():
        for module in {each.split(".")[0] for each in imported(path)} - OURS:
            # What is not installed here, as keyring, is sought by the name of the module.
            brought_by = {plain(each) for each in distributions.get(module, [module])} & known
            used |= brought_by
            if not brought_by:
                missing.add(f"{name}: {module}")
    assert not missing, f"imported and not declared: {sorted(missing)}"
    assert known == used, f"declared and never imported: {sorted(known - used)}"
