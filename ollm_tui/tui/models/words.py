"""The words of models: the picker, the screen of stored models, and what is said about both."""

from __future__ import annotations

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import Capabilities, ModelInfo, RunningModel

# The picker

NOBODY = "No provider available. Run ollm doctor."
CANNOT_ANSWER = "Not a chat model"
FAVOURITES, RECENT = "Favourites", "Recent"
NOT_FETCHED = "not downloaded"

# Regions

REGION_TITLE = "Region of {name}"
NO_REGIONS = "No Bedrock provider configured"
HOW_TO_SET_UP = "add providers: bedrock: {} to your settings; see docs/providers.md"

# The screen of stored models

TITLE = "Models on this machine"
ASKING = "Asking Ollama and the embedded provider …"
NO_MODELS = "No models yet. p pulls one by name."
SCREEN_KEYS = (
    ("choices.choose", "use"),
    ("store.pull", "pull"),
    ("store.cancel", "stop download"),
    ("store.unload", "unload"),
    ("store.copy", "copy"),
    ("store.delete", "delete"),
    ("store.again", "refresh"),
    ("store.close", "close"),
)
PULL = "Pull a model\nA name from ollama.com/search, such as llama3.2 or qwen3:8b"
NO_NAME = "Enter a name"
BAD_NAME = "Names have no spaces"
STOPPED = "Stopped. The next pull resumes the download."


def ability_words(can: Capabilities) -> str:
    """Return what a model can do beside text, in a few words; only what its server says."""
    named = {"tools": can.tools, "thinking": can.thinking, "images": can.images}
    known = {name: able for name, able in named.items() if able is not None}
    return ", ".join(name for name, able in known.items() if able) or (
        "text only" if known else "abilities unknown"
    )


def price_words(can: Capabilities, remote_host: str | None) -> str:
    """Return what a million tokens cost, in and out; what this machine answers is free."""
    rates = can.card.rates() if can.card else None
    if rates:
        return f"${rates.input:g} in, ${rates.output:g} out per million tokens"
    return "price unknown" if remote_host else "free"


def place_words(provider: str, remote_host: str | None) -> str:
    """Return where a model runs, and so where everything goes that is said to it."""
    if remote_host:
        return f"{clean(provider)}: sends everything to {clean(remote_host)}"
    return f"{clean(provider)} on this machine"


def short_price(info: ModelInfo) -> str:
    """Return the price of a model in few characters, in and out; empty if there is none."""
    rates = info.card.rates() if info.card else None
    return f"${rates.input:g}/${rates.output:g}" if rates else ""


def short_window(tokens: int | None) -> str:
    """Return a window in a few digits: windows are counted in 1024s, 32768 is 32k."""
    if not tokens:
        return ""
    unit = 1024 if tokens % 1024 == 0 else 1000
    return f"{tokens / unit:.0f}k" if tokens >= unit else str(tokens)


def size_words(count: int | None) -> str:
    """Return the size of a model, in MB or GB; empty if it is unknown, or that of a name only."""
    if not count or count < 1e6:
        return ""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def loaded_words(running: RunningModel) -> str:
    """Return what a model in memory takes."""
    window = short_window(running.window)
    facts = (size_words(running.size_bytes), window and f"window {window}")
    return ", ".join(("loaded", *filter(None, facts)))


def heading_words(models: int, size_bytes: int, loaded: int) -> str:
    """Return how many models there are, what they take, and how many are in memory."""
    size = size_words(size_bytes)
    facts = (f"{counted(models, 'model')}{f', {size}' if size else ''}", f"{loaded} loaded")
    return " · ".join(facts)


def delete_question(
    name: str, size_bytes: int | None, siblings: tuple[str, ...]
) -> tuple[str, str]:
    """Return the question whether to delete a model, and what that would mean."""
    freed = f"Frees {size_words(size_bytes)}" if size_bytes else "Deletes its file"
    if siblings:
        freed = f"Keeps the weights: {clean(', '.join(siblings))} uses them too"
    return f"Delete {clean(name)}?", f"{freed}. Cannot be undone, but you can pull it again."


MARKED = "Enter compares {}"


PICKER_KEYS = "Enter use   Space compare   Ctrl+S favourite   F7 manage   Esc close"
WINDOW_KEY = "Alt+W change"
"""Said of the window of the model in use, where its server lets us change it."""


# Said in commands

CHECKING_THE_MODEL = "Checking the model …"
MODELS_USAGE = "/models pull NAME"
MODEL_UNCHANGED = "Model unchanged"

# Said in mode_commands

SYSTEM_PROMPT_CHANGED = "System prompt changed"
