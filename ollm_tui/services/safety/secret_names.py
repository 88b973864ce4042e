"""Names a tool was given that lead, or may lead, to where keys and passwords are kept."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

from ollm_tui.services.safety.places import keeps_secrets, singles_out_secrets

_SAMPLES = (".env", ".env.local", ".netrc", ".npmrc", "id_rsa", "credentials", "secrets.json")
_WILD = re.compile(r"[*?\[]")


def names_secrets(path: str) -> bool:
    """Whether a path or pattern names such a place. Patterns that begin with * do so only by
    what else they say: *.pem does, *.json does not."""
    last = path.rstrip("/").rpartition("/")[2].casefold()
    is_narrow = _WILD.search(last) is not None and not last.startswith("*")
    return (
        keeps_secrets(Path(path))
        or singles_out_secrets(path)
        or (is_narrow and any(fnmatchcase(sample, last) for sample in _SAMPLES))
    )
