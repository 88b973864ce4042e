"""What a project's own settings file may set, and what it may not, with the reason.

A project may come from anywhere. It may tune how the conversation is held, once the user has
agreed to that. It never decides where data and keys go, what is run, what is kept, or when the
program stops a model: those are the user's own. Every key of the schema is on one of the two
lists; what is on neither is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ollm_tui.settings.keys import KeyPath

ALLOWED = frozenset(
    (
        *("model", "provider"),
        *("compression.enabled", "compression.strategy", "compression.threshold"),
        *("compression.preserveRecent", "compression.summaries", "compression.summaryMaxTokens"),
        "compression.checkpointShare",
        *("context.window", "context.outputReserve"),
        *("fileDiscovery.maxDepth", "fileDiscovery.builtinIgnores"),
        *("models.*.window", "models.*.temperature", "models.*.thinking", "models.*.maxOutput"),
        *("search.maxResults", "search.retrievalTokens"),
        *("ui.theme", "ui.density", "ui.timestamps", "ui.textWidth", "ui.textAlign"),
    )
)
"""Keys a trusted project may set; * is any one name."""

REFUSED: Mapping[str, tuple[str, ...]] = {
    "where your conversations are kept, and how many": (
        *("sessions.dataDir", "sessions.maxSessions", "sessions.autoSave"),
        *("sessions.maxMegabytes", "sessions.autoTitle"),
    ),
    "what is kept of them": (
        *("retention.mode", "retention.maxAge", "retention.maxItems"),
        *("retention.storeToolOutputs", "retention.encryptAtRest"),
    ),
    "when snapshots are taken": (
        *("snapshots.enabled", "snapshots.maxCount", "snapshots.autoCreate"),
        "snapshots.autoThreshold",
    ),
    "when a model that repeats itself is paused": (
        *("loopDetection.enabled", "loopDetection.maxTurns", "loopDetection.repeatThreshold"),
        *("loopDetection.maxRounds", "loopDetection.strict", "loopDetection.nudge"),
    ),
    "what is sent to the model unasked": ("context.shareCommandOutput",),
    "how you are called": ("ui.notifications",),
    "whether links are followed": ("fileDiscovery.followSymlinks",),
    "which variables commands see": (
        *("environment.policy", "environment.allowList", "environment.denyPatterns"),
    ),
    "the addresses and keys of servers": (
        *("providers.*.kind", "providers.*.baseUrl", "providers.*.keyEnv", "providers.*.keyring"),
        *("providers.*.keyCommand", "providers.*.timeoutSeconds", "providers.*.headers.*"),
        *("providers.*.api", "providers.*.apiVersion", "providers.*.region", "providers.*.profile"),
        *("providers.*.store", "providers.*.promptCache", "providers.*.keepAlive"),
        "providers.*.parallel",
    ),
    "what models cost": (
        *("models.*.inputPrice", "models.*.outputPrice", "models.*.cachedPrice"),
        "models.*.cacheWritePrice",
    ),
    "your modes; AGENTS.md is for instructions": (
        *("modes.*.prompt", "modes.*.tools", "modes.*.temperature"),
    ),
    "what the model may do": (
        *("tools.permissions.*", "tools.allowed", "tools.scope", "tools.network"),
        *("tools.timeoutSeconds", "tools.maxOffered"),
    ),
    "which extensions are loaded": ("extensions.*.enabled",),
    "which MCP servers run; .mcp.json is for those": (
        *("mcp.*.command", "mcp.*.args", "mcp.*.env.*", "mcp.*.url", "mcp.*.headers.*"),
        *("mcp.*.enabled", "mcp.*.tools", "mcp.*.timeoutSeconds"),
    ),
    "what runs by itself": ("hooks.*",),
    "where your conversations go": ("sync.remote", "sync.automatic", "sync.maxMegabytes"),
    "what is sent of other sessions": ("search.retrieval", "search.embeddingModel"),
    "which files hold instructions": ("context.instructionFiles",),
    "which screen you see": ("ui.plain", "ui.suggestModes"),
    "your keys": ("keymap.*", "ui.editing"),
}
"""Keys that no project may set, trusted or not, by what it would decide with them."""

NOT_KNOWN = "this"


def may_set(path: KeyPath) -> bool:
    """Whether a trusted project may set a key, or have an entry in a table for such keys."""
    return any(_matches(path, key.split(".")[: len(path)]) for key in ALLOWED)


def refused_matter(path: KeyPath) -> str:
    """Return what a project would decide with a key that it may not set, in words."""
    for matter, keys in REFUSED.items():
        if any(_matches(path, key.split(".")) for key in keys):
            return matter
    return NOT_KNOWN


def _matches(path: KeyPath, pattern: Sequence[str]) -> bool:
    return len(path) == len(pattern) and all(
        part in ("*", name) for name, part in zip(path, pattern, strict=True)
    )
