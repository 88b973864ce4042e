"""Every setting: its name, its type, its default and one line on what it does.

The names in files are the camelCase ones. `project_rules` says what a project may set: a new key
has to be put on one of its two lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, cast, get_args
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from ollm_tui.core.address import is_this_machine

# Lone surrogates are kept out of every text: they could not be written to disk again.
_LINE = r"[^\x00-\x1f\x7f\ud800-\udfff]"

Name = Annotated[
    str, Meta(pattern=rf"\A{_LINE}{{1,200}}\Z", description="a name of 1 to 200 characters")
]
Line = Annotated[str, Meta(pattern=rf"\A{_LINE}+\Z", description="one line of text")]
Prose = Annotated[str, Meta(pattern=r"\A[^\x00\ud800-\udfff]*\Z", description="text")]
# ~name, the home of another user, is refused: it is never expanded.
Folder = Annotated[
    str,
    Meta(pattern=rf"\A(?!~[^/]){_LINE}+\Z", description="a path; ~ is the home directory"),
]
Url = Annotated[
    str,
    Meta(
        pattern=rf"\Ahttps?://(?=[^/?#])(?:(?!\s){_LINE})+\Z",
        description="an http or https address",
    ),
]
Variable = Annotated[
    str,
    Meta(
        pattern=r"\A[A-Za-z_][A-Za-z0-9_]*\Z",
        description="the name of an environment variable, not the key itself",
    ),
]
Duration = Annotated[
    str, Meta(pattern=r"\A[1-9][0-9]{0,4}[mhdw]\Z", description="a duration like 12h, 7d or 4w")
]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Positive = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Window = Annotated[int, Meta(ge=1024, le=100_000_000)]
Share = Annotated[float, Meta(gt=0, le=1)]
SmallShare = Annotated[float, Meta(gt=0, le=0.9)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Temperature = Annotated[float, Meta(ge=0, le=2)]
Price = Annotated[float, Meta(ge=0, le=1_000_000)]

ProviderKind = Literal["embedded", "ollama", "openai", "azure", "anthropic", "gemini", "bedrock"]
"""`openai` is any server that speaks OpenAI's protocol."""
BUILT_IN_PROVIDERS = ("ollama", "embedded")
"""The providers that are there without any settings, in the order they are tried."""
Permission = Literal["auto", "confirm", "deny"]
HookEvent = Literal[
    "session-start",
    "before-turn",
    "after-turn",
    "before-tool",
    "after-tool",
    "pre-compress",
    "post-compress",
    "session-created",
    "message-recorded",
    "tool-call-recorded",
    "session-saved",
    "snapshot-created",
    "auto-snapshot-created",
    "snapshot-restored",
    "snapshot-deleted",
    "snapshot-error",
    "compressed",
    "compression-skipped",
    "compression-error",
    "checkpoint-created",
    "checkpoint-aged",
    "loop-paused",
]
"""When hooks run. What the first seven print becomes context; the others only hear."""
TURN_HOOKS = frozenset(get_args(HookEvent)[:7])
"""The events that wait for their hooks."""

DEFAULT_DATA_DIR = "~/.ollm/sessions"
_SECONDS_PER_UNIT = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class Group(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Settings that belong together; every one has a default."""


class Sessions(Group, frozen=True):
    """Where conversations are kept, and how many."""

    data_dir: Folder = DEFAULT_DATA_DIR
    """Directory of the session files; the default moves with $OLLM_HOME."""
    max_sessions: Count = 100
    """How many sessions are kept before the oldest go to the trash; 0 keeps all."""
    auto_save: bool = True
    """Save every message at once; false saves only at /save and on exit."""
    max_megabytes: Count = 500
    """Sessions larger than this are not opened: they would fill the memory; 0 opens all."""


class Snapshots(Group, frozen=True):
    """Restore points of the context."""

    enabled: bool = True
    """Whether snapshots are taken at all."""
    max_count: Positive = 5
    """How many automatic snapshots of a session are kept; named ones always stay."""
    auto_create: bool = True
    """Take one when the context first passes autoThreshold."""
    auto_threshold: Share = 0.85
    """Share of the context limit at which a snapshot is taken."""


class Compression(Group, frozen=True):
    """How older messages are summarised in the context when it fills up."""

    enabled: bool = True
    """Compress by itself; /compact works in any case."""
    strategy: Literal["hybrid", "summarize", "truncate", "provider"] = "hybrid"
    """hybrid, summarize, truncate, or provider: the server compacts, where it can (OpenAI)."""
    threshold: Share = 0.80
    """Share of the available tokens at which compression starts."""
    preserve_recent: Count = 2048
    """Tokens of the newest messages that stay as they are."""
    summaries: Literal["auto", "always", "never"] = "auto"
    """Whether the model writes a summary beside the ledger: auto asks only models fit for it."""
    summary_max_tokens: Positive = 1024
    """Longest summary the model may write."""
    checkpoint_share: SmallShare = 0.30
    """Largest share of the context limit that all summaries together may take."""


class Context(Group, frozen=True):
    """The window of the model, and what is in every prompt."""

    window: Literal["auto"] | Window = "auto"
    """Tokens of context to ask the server for; auto takes what model and machine allow."""
    output_reserve: SmallShare = 0.15
    """Share of the window kept free for the answer."""
    share_command_output: bool = False
    """Attach the output of each ! command to the next message."""
    instruction_files: tuple[Line, ...] = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
    """Files with a project's instructions; in each folder the first one that is there is read."""


class LoopDetection(Group, frozen=True):
    """When a turn that repeats itself is paused."""

    enabled: bool = True
    """Whether loops are looked for."""
    max_turns: Positive = 50
    """Rounds without anything new after one user message before the turn is paused."""
    max_rounds: Positive = 500
    """Rounds of any kind after one user message before the turn is paused."""
    repeat_threshold: Annotated[int, Meta(ge=2, le=1000)] = 3
    """Repetitions in a row that count as a loop."""
    strict: bool = False
    """Count equal calls even when their results differ, and all rounds for maxTurns."""
    nudge: bool = True
    """Tell the model once that it repeats itself before the turn is paused."""


class FileDiscovery(Group, frozen=True):
    """How the files of a project are found."""

    max_depth: Annotated[int, Meta(ge=1, le=1000)] = 10
    """Directories below the project's root that are looked into."""
    follow_symlinks: bool = False
    """Follow links to directories."""
    builtin_ignores: tuple[Name, ...] = (
        "node_modules",
        ".git",
        "dist",
        "build",
        ".next",
        ".cache",
    )
    """Names that are never looked into, besides what .gitignore and .ollmignore say."""


class Environment(Group, frozen=True):
    """Which environment variables tools get to see."""

    policy: Literal["strict", "open"] = "strict"
    """strict passes only the allow list; open passes all that no deny pattern matches."""
    allow_list: tuple[Name, ...] = (
        *("PATH", "HOME", "USER", "SHELL", "TERM", "LANG", "LC_*"),
        *("TMPDIR", "TZ", "PWD", "COLORTERM", "EDITOR", "VIRTUAL_ENV", "XDG_*"),
    )
    """Names that pass; an exact name wins over a deny pattern, a pattern does not."""
    deny_patterns: tuple[Name, ...] = (
        *("*_KEY", "*_SECRET", "*_TOKEN", "*_PASSWORD", "*_CREDENTIAL", "AWS_*", "GITHUB_*"),
        *("*TOKEN*", "*SECRET*", "*PASSW*", "*APIKEY*", "*PRIVATE*", "*CREDENTIAL*", "*AUTH*"),
        *("DATABASE_URL", "LD_*", "DYLD_*", "BASH_ENV", "ENV", "PROMPT_COMMAND"),
        *("GIT_EXTERNAL_DIFF", "GIT_SSH*", "NODE_OPTIONS", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT"),
    )
    """Names that are withheld, in upper or lower case."""


class Retention(Group, frozen=True):
    """What is kept on disk, and for how long."""

    mode: Literal["ephemeral", "session", "global"] = "global"
    """ephemeral keeps nothing, session keeps in the project's .ollm, global in dataDir."""
    max_age: Duration | None = None
    """Sessions untouched for longer go to the trash; null keeps them."""
    max_items: Count = 0
    """At so many messages you are asked to go on in a linked new session; 0 never asks."""
    store_tool_outputs: bool = True
    """Keep what tools and ! commands print; false keeps only its size and hash."""
    encrypt_at_rest: bool = False
    """Encrypt sessions on disk."""

    @property
    def max_age_seconds(self) -> int | None:
        """`max_age` in seconds."""
        if self.max_age is None:
            return None
        return int(self.max_age[:-1]) * _SECONDS_PER_UNIT[self.max_age[-1]]


class ProviderSettings(Group, frozen=True):
    """One model server. The key comes from a variable, the keyring or a command."""

    kind: ProviderKind | Literal["auto"] = "auto"
    """What it speaks; auto means the provider's name where that is a kind, else openai."""
    base_url: Url | None = None
    """Address of the server; null is the usual one of its kind."""
    key_env: Variable | None = None
    """Environment variable that holds the key."""
    keyring: Line | None = None
    """Entry of the system's keyring that holds the key."""
    key_command: Line | None = None
    """Command that prints the key."""
    timeout_seconds: Seconds = 120
    """Longest silence of the server before a request is given up."""
    headers: Mapping[Name, Line] = {}
    """Further headers of every request."""
    api: Literal["auto", "chat", "responses"] = "auto"
    """Which of OpenAI's protocols; auto is responses at OpenAI and Azure, else chat."""
    api_version: Line | None = None
    """Version of Azure's API, such as 2025-04-01-preview."""
    region: Name | None = None
    """Region of Bedrock; null is that of the environment or the profile."""
    profile: Name | None = None
    """Profile of Amazon's files with keys; null is the usual one."""
    store: bool = False
    """Whether OpenAI, Azure and Google may keep what is sent, where they can be told."""
    prompt_cache: bool = True
    """Mark prompts for the cache of Anthropic and Bedrock: cheaper from the second request on."""
    keep_alive: Line | None = None
    """How long Ollama keeps a model loaded, such as 30m; null leaves it to the server."""

    @property
    def host(self) -> str | None:
        """The host of the address; None if that is the usual one of its kind."""
        return self.base_url and urlsplit(self.base_url).hostname

    def stays_here(self, name: str) -> bool:
        """Whether the provider with this name may be chosen by itself: as Ollama, or because it is
        on this machine."""
        if self.kind_for(name) in BUILT_IN_PROVIDERS:
            return True
        return self.host is not None and is_this_machine(self.host)

    def kind_for(self, name: str) -> ProviderKind:
        """The kind of the provider with this name."""
        if self.kind != "auto":
            return self.kind
        return cast(ProviderKind, name) if name in get_args(ProviderKind) else "openai"


class ModelSettings(Group, frozen=True):
    """What is special about one model; null leaves it to the rest of the settings."""

    window: Window | None = None
    """Tokens of context for this model."""
    temperature: Temperature | None = None
    """How freely the model chooses its words."""
    thinking: bool | Literal["low", "medium", "high", "max"] | None = None
    """Whether the model thinks before it answers, or how long: low, medium, high, max."""
    max_output: Positive | None = None
    """Longest answer in tokens."""
    input_price: Price | None = None
    """US dollars for a million tokens read; with outputPrice it outranks the known price."""
    output_price: Price | None = None
    """US dollars for a million tokens written."""
    cached_price: Price | None = None
    """US dollars for a million tokens from the server's cache; null is the input price."""
    cache_write_price: Price | None = None
    """US dollars for a million tokens put into the cache; null is the input price."""


class ModeSettings(Group, frozen=True):
    """A way of working: what the model is told and what it may use."""

    prompt: Prose = ""
    """What the model is told in this mode."""
    tools: tuple[Name, ...] | None = None
    """Tools offered in this mode; null offers all."""
    temperature: Temperature | None = None
    """Temperature in this mode; null leaves it to the model."""


class Tools(Group, frozen=True):
    """What the model may do."""

    permissions: Mapping[Name, Permission] = {}
    """auto, confirm or deny for a tool by name; others follow the built-in rules."""
    allowed: tuple[Name, ...] = ("*",)
    """Tools that may be offered at all; * is every tool."""
    scope: tuple[Folder, ...] = (".",)
    """Directories tools may touch; . is the project."""
    network: bool = False
    """Whether commands of tools may use the network."""
    timeout_seconds: Seconds = 120
    """Longest run of one tool call."""
    max_offered: Annotated[int, Meta(ge=1, le=200)] = 10
    """Most tools the model is told about; small models get lost among more."""


class McpServer(Group, frozen=True):
    """A server whose tools the model may use; it is started as a command, or has an address."""

    command: Line | None = None
    """The program that is the server; it talks on stdin and stdout."""
    args: tuple[Line, ...] = ()
    """Its arguments."""
    env: Mapping[Variable, Line] = {}
    """Variables it gets besides the harmless ones; ${NAME} is the value of one of yours."""
    url: Url | None = None
    """Address of a server that runs already (streamable HTTP), in the place of a command."""
    headers: Mapping[Name, Line] = {}
    """Further headers for that address; ${NAME} is the value of a variable."""
    enabled: bool = True
    """Whether it is used."""
    tools: tuple[Name, ...] | None = None
    """The tools that may be offered; null is all of them."""
    timeout_seconds: Seconds = 60
    """Longest wait for its start, and for one answer."""


class ExtensionSettings(Group, frozen=True):
    """One extension that is installed."""

    enabled: bool = True
    """Whether it is loaded."""


class Search(Group, frozen=True):
    """Finding and using what was said earlier."""

    max_results: Annotated[int, Meta(ge=1, le=10_000)] = 200
    """Most hits shown."""
    retrieval: bool = False
    """Give the model fitting passages of other sessions by itself; /recall works always."""
    retrieval_tokens: Positive = 1024
    """Most tokens such passages may take."""
    embedding_model: Name | None = "auto"
    """Finds by meaning: auto is minilm or a model of Ollama on this machine, or provider/model."""


class Interface(Group, frozen=True):
    """How the screen looks."""

    theme: Name = "auto"
    """A file of themes/ without its ending; auto is dark or light like the terminal."""
    density: Literal["comfortable", "compact"] = "comfortable"
    """comfortable or compact."""
    timestamps: bool = False
    """Show when each message was said."""
    notifications: Literal["auto", "bell", "osc9", "osc99", "osc777", "off"] = "auto"
    """How to call when a long turn ends or an approval waits and the terminal has no focus."""
    plain: bool = False
    """No frames, colours or symbols, for screen readers and simple terminals."""
    suggest_modes: bool = False
    """Suggest a mode that fits what was sent, by its form; it is never changed by itself."""


class Settings(Group, frozen=True):
    """All settings."""

    model: Name = "auto"
    """Model to start with; auto takes the provider's default."""
    provider: Name = "auto"
    """Provider to start with; auto is Ollama if it answers, else the embedded model."""
    sessions: Sessions = Sessions()
    """Where conversations are kept, and how many."""
    snapshots: Snapshots = Snapshots()
    """Restore points of the context."""
    compression: Compression = Compression()
    """How older messages are summarised in the context when it fills up."""
    context: Context = Context()
    """The window of the model, and what is in every prompt."""
    loop_detection: LoopDetection = LoopDetection()
    """When a turn that repeats itself is paused."""
    file_discovery: FileDiscovery = FileDiscovery()
    """How the files of a project are found."""
    environment: Environment = Environment()
    """Which environment variables tools get to see."""
    retention: Retention = Retention()
    """What is kept on disk, and for how long."""
    providers: Mapping[Name, ProviderSettings] = {}
    """Model servers by name, besides the built-in ones."""
    models: Mapping[Name, ModelSettings] = {}
    """Settings of single models, by model name."""
    modes: Mapping[Name, ModeSettings] = {}
    """The user's own modes, by name."""
    tools: Tools = Tools()
    """What the model may do."""
    hooks: Mapping[HookEvent, tuple[Line, ...]] = {}
    """Commands that run at certain events."""
    mcp: Mapping[Name, McpServer] = {}
    """MCP servers by name; their tools, resources and prompts join those of the program."""
    extensions: Mapping[Name, ExtensionSettings] = {}
    """Extensions by name; what is installed is loaded unless it is switched off here."""
    search: Search = Search()
    """Finding and using what was said earlier."""
    ui: Interface = Interface()
    """How the screen looks."""
    keymap: Mapping[Name, Line] = {}
    """Keys by the id of what they do; several keys are separated by commas."""
