"""Installs a module as an extension without pip: its file and the metadata pip would write."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.services.extensions.extension_host import GROUP


def install(folder: Path, name: str, code: str, kind: str) -> None:
    """Put a module `ollm_NAME` with an extension into a folder that is on the path of modules."""
    (folder / f"ollm_{name}.py").write_text(code)
    facts = folder / f"ollm_{name}-1.0.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ollm-{name}\nVersion: 1.0.0\n")
    (facts / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = ollm_{name}:{kind}\n")
