"""Text for terminals that know ASCII only: every other character by one that resembles it."""

from __future__ import annotations

from unicodedata import normalize

from rich.cells import cell_len

_ALIKE = {
    **dict.fromkeys("─━═╌╍┄┅┈┉‐‑‒–—−▔▁▂", "-"),
    **dict.fromkeys("│┃║╎╏┆┇┊┋▌▍▎▏▐", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝╠╣╦╩╬┏┓┗┛┣┫┳┻╋", "+"),
    **dict.fromkeys("█▓▉▊▋▃▄▅▆▇▀", "#"),
    **dict.fromkeys("░▒", "."),
    **dict.fromkeys("•●◆★▪✓✔☑", "*"),
    **dict.fromkeys("◦○◇☐", "o"),
    **dict.fromkeys("▸▶→›»↳", ">"),
    **dict.fromkeys("◂◀←‹«", "<"),
    **dict.fromkeys("▾▼↓", "v"),
    **dict.fromkeys("▴▲↑", "^"),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’‚", "'"),
    "·": "-",
    "…": "~",
    "≈": "~",
    "×": "x",
    "✗": "x",
}


class _Alike(dict[int, str]):
    """What to send for a character, found when it is first met; as wide as the character."""

    def __missing__(self, code: int) -> str:
        mark = chr(code)
        plain = mark if code < 128 else _ALIKE.get(mark) or normalize("NFKD", mark)[:1]
        width = cell_len(mark)
        self[code] = plain if code < 128 else (plain if plain.isascii() else "?") * width
        return self[code]


class AsciiText:
    """Turns text into ASCII, cell by cell: what was drawn for a place stays in its place."""

    def __init__(self) -> None:
        self._alike = _Alike()

    def __call__(self, text: str) -> str:
        """The text in ASCII; controls stay as they are."""
        return text if text.isascii() else text.translate(self._alike)
