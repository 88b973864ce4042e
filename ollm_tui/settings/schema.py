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
    """Where sessions are stored, and how many."""

    data_dir: Folder = DEFAULT_DATA_DIR
    """Directory of the session files; the default moves with $OLLM_HOME."""
    max_sessions: Count = 100
    """Sessions to keep; older ones go to the trash. 0 keeps all."""
    auto_save: bool = True
    """Save every message immediately; false saves only on /save and on exit."""
    auto_title: bool = False
    """Let the model title a session after its first answer, if it is large enough."""
    max_megabytes: Count = 500
    """Sessions larger than this are not opened, to save memory; 0 opens all."""


class Snapshots(Group, frozen=True):
    """Restore points of the context."""

    enabled: bool = True
    """Take snapshots."""
    max_count: Positive = 5
    """Automatic snapshots to keep per session; named ones are always kept."""
    auto_create: bool = True
    """Take one when the context first reaches autoThreshold."""
    auto_threshold: Share = 0.85
    """Share of the context limit at which a snapshot is taken."""


class Compression(Group, frozen=True):
    """How the context is compressed when it fills up."""

    enabled: bool = True
    """Compress automatically; /compact always works."""
    strategy: Literal["hybrid", "summarize", "truncate", "provider"] = "hybrid"
    """hybrid, summarize, truncate, or provider: done by the server (OpenAI only)."""
    threshold: Share = 0.80
    """Share of the available tokens at which compression starts."""
    preserve_recent: Count = 2048
    """Tokens of the newest messages that are never compressed."""
    summaries: Literal["auto", "always", "never"] = "auto"
    """Let the model write a summary besides the ledger; auto asks only capable models."""
    summary_max_tokens: Positive = 1024
    """Longest summary the model may write."""
    checkpoint_share: SmallShare = 0.30
    """Largest share of the context limit for all summaries together."""


class Context(Group, frozen=True):
    """The context window, and what goes into every prompt."""

    window: Literal["auto"] | Window = "auto"
    """Size of the context window in tokens; auto uses what model and machine allow."""
    output_reserve: SmallShare = 0.15
    """Share of the window reserved for the answer."""
    share_command_output: bool = False
    """Attach the output of each ! command to the next message."""
    instruction_files: tuple[Line, ...] = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
    """Instruction files of a project; the first one found in each folder is read."""


class LoopDetection(Group, frozen=True):
    """When to pause a model that repeats itself."""

    enabled: bool = True
    """Detect loops."""
    max_turns: Positive = 50
    """Rounds without progress after one user message before pausing."""
    max_rounds: Positive = 500
    """Rounds of any kind after one user message before pausing."""
    repeat_threshold: Annotated[int, Meta(ge=2, le=1000)] = 3
    """Repetitions in a row that count as a loop."""
    strict: bool = False
    """Count equal calls even if their results differ, and all rounds for maxTurns."""
    nudge: bool = True
    """Tell the model once that it repeats itself before pausing."""


class FileDiscovery(Group, frozen=True):
    """How project files are found."""

    max_depth: Annotated[int, Meta(ge=1, le=1000)] = 10
    """Depth of directories to search below the project's root."""
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
    """Names to ignore, in addition to .gitignore and .ollmignore."""


class Environment(Group, frozen=True):
    """Which environment variables tools can see."""

    policy: Literal["strict", "open"] = "strict"
    """strict passes only the allow list; open passes all that no deny pattern matches."""
    allow_list: tuple[Name, ...] = (
        *("PATH", "HOME", "USER", "SHELL", "TERM", "LANG", "LC_*"),
        *("TMPDIR", "TZ", "PWD", "COLORTERM", "EDITOR", "VIRTUAL_ENV", "XDG_*"),
    )
    """Names to pass on; an exact name overrides a deny pattern, a pattern does not."""
    deny_patterns: tuple[Name, ...] = (
        *("*_KEY", "*_SECRET", "*_TOKEN", "*_PASSWORD", "*_CREDENTIAL", "AWS_*", "GITHUB_*"),
        *("*TOKEN*", "*SECRET*", "*PASSW*", "*APIKEY*", "*PRIVATE*", "*CREDENTIAL*", "*AUTH*"),
        *("DATABASE_URL", "LD_*", "DYLD_*", "BASH_ENV", "ENV", "PROMPT_COMMAND"),
        *("GIT_EXTERNAL_DIFF", "GIT_SSH*", "NODE_OPTIONS", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT"),
    )
    """Names to withhold, in any case."""


class Retention(Group, frozen=True):
    """What is stored on disk, and for how long."""

    mode: Literal["ephemeral", "session", "global"] = "global"
    """ephemeral stores nothing, session stores in the project's .ollm, global in dataDir."""
    max_age: Duration | None = None
    """Sessions unused for longer go to the trash; null keeps them."""
    max_items: Count = 0
    """Offer a new, linked session after this many messages; 0 never asks."""
    store_tool_outputs: bool = True
    """Store the output of tools and ! commands; false stores only size and hash."""
    encrypt_at_rest: bool = False
    """Encrypt sessions on disk."""

    @property
    def max_age_seconds(self) -> int | None:
        """`max_age` in seconds."""
        if self.max_age is None:
            return None
        return int(self.max_age[:-1]) * _SECONDS_PER_UNIT[self.max_age[-1]]


HOSTED_PARALLEL = 4
"""Requests that a server elsewhere gets at once, unless the settings say otherwise."""


class ProviderSettings(Group, frozen=True):
    """One model server. The key comes from a variable, the keyring or a command."""

    kind: ProviderKind | Literal["auto"] = "auto"
    """Protocol; auto uses the provider's name if it is a kind, else openai."""
    base_url: Url | None = None
    """Address of the server; null uses the default of its kind."""
    key_env: Variable | None = None
    """Environment variable that holds the key."""
    keyring: Line | None = None
    """Entry in the system keyring that holds the key."""
    key_command: Line | None = None
    """Command that prints the key."""
    timeout_seconds: Seconds = 120
    """Longest silence of the server before a request fails."""
    headers: Mapping[Name, Line] = {}
    """Extra headers for every request."""
    api: Literal["auto", "chat", "responses"] = "auto"
    """OpenAI protocol; auto uses responses for OpenAI and Azure, else chat."""
    api_version: Line | None = None
    """Version of Azure's API, such as 2025-04-01-preview."""
    region: Name | None = None
    """Bedrock region; null uses that of the environment or profile."""
    profile: Name | None = None
    """AWS profile; null uses the default one."""
    store: bool = False
    """Let OpenAI, Azure and Google store requests, where this can be set."""
    prompt_cache: bool = True
    """Use prompt caching at Anthropic and Bedrock: cheaper from the second request on."""
    keep_alive: Line | None = None
    """How long Ollama keeps a model loaded, such as 30m; null: server default."""
    parallel: Positive | None = None
    """Parallel answers; null uses 1 on this machine, 4 elsewhere."""

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

    def answers_at_once(self, name: str) -> int:
        """How many requests the provider with this name answers at once. The embedded server has
        one slot."""
        if self.kind_for(name) == "embedded":
            return 1
        return self.parallel or (1 if self.stays_here(name) else HOSTED_PARALLEL)

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
    """Randomness of the answers."""
    thinking: bool | Literal["low", "medium", "high", "max"] | None = None
    """Let the model think before it answers; or a level: low, medium, high, max."""
    max_output: Positive | None = None
    """Longest answer in tokens."""
    input_price: Price | None = None
    """US dollars per million input tokens; with outputPrice it overrides the known price."""
    output_price: Price | None = None
    """US dollars per million output tokens."""
    cached_price: Price | None = None
    """US dollars per million cached input tokens; null uses the input price."""
    cache_write_price: Price | None = None
    """US dollars per million tokens written to the cache; null uses the input price."""


class ModeSettings(Group, frozen=True):
    """A way of working: what the model is told and what it may use."""

    prompt: Prose = ""
    """System prompt of this mode."""
    tools: tuple[Name, ...] | None = None
    """Tools offered in this mode; null offers all."""
    temperature: Temperature | None = None
    """Temperature in this mode; null uses the model's."""


class Tools(Group, frozen=True):
    """What the model may do."""

    permissions: Mapping[Name, Permission] = {}
    """auto, confirm or deny per tool; others follow the built-in rules."""
    allowed: tuple[Name, ...] = ("*",)
    """Tools the model may use; * is all."""
    scope: tuple[Folder, ...] = (".",)
    """Directories tools may access; . is the project."""
    network: bool = False
    """Let tool commands use the network."""
    timeout_seconds: Seconds = 120
    """Timeout of one tool call."""
    max_offered: Annotated[int, Meta(ge=1, le=200)] = 10
    """Most tools to offer; small models handle fewer better."""


class McpServer(Group, frozen=True):
    """A server whose tools the model may use; it is started as a command, or has an address."""

    command: Line | None = None
    """Program to start as the server, using stdin and stdout."""
    args: tuple[Line, ...] = ()
    """Its arguments."""
    env: Mapping[Variable, Line] = {}
    """Extra environment variables; ${NAME} is the value of one of yours."""
    url: Url | None = None
    """Address of a running server (streamable HTTP), instead of a command."""
    headers: Mapping[Name, Line] = {}
    """Extra headers for that address; ${NAME} is the value of a variable."""
    enabled: bool = True
    """Use this server."""
    tools: tuple[Name, ...] | None = None
    """Tools to offer; null offers all."""
    timeout_seconds: Seconds = 60
    """Timeout for its start and for each answer."""


class ExtensionSettings(Group, frozen=True):
    """One extension that is installed."""

    enabled: bool = True
    """Load this extension."""


class Search(Group, frozen=True):
    """Search, and recall from earlier sessions."""

    max_results: Annotated[int, Meta(ge=1, le=10_000)] = 200
    """Most matches to show."""
    retrieval: bool = False
    """Automatically give the model matching passages of other sessions; /recall always works."""
    retrieval_tokens: Positive = 1024
    """Most tokens for such passages."""
    embedding_model: Name | None = "auto"
    """Model for search by meaning: provider/model; auto uses minilm or a local Ollama model."""


class Sync(Group, frozen=True):
    """Sync sessions between machines, through your own git remote."""

    remote: Line | None = None
    """Git remote, or the full path of a bare repository; null turns sync off."""
    automatic: bool = True
    """Sync on start, after each turn and on exit; false syncs only with ollm sync."""
    max_megabytes: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000
    """Most to download from the remote at once."""


class Interface(Group, frozen=True):
    """How the screen looks."""

    theme: Name = "auto"
    """Name of a theme in themes/; auto follows the terminal, dark or light."""
    density: Literal["comfortable", "compact"] = "comfortable"
    """comfortable or compact."""
    timestamps: bool = True
    """Show time and speed at the right edge of messages."""
    text_width: Annotated[int, Meta(ge=0, le=1000)] = 100
    """Widest line of text in columns; 0 uses the full width."""
    text_align: Literal["left", "centre"] = "left"
    """Position of the text on a wide terminal: left or centre."""
    notifications: Literal["auto", "bell", "osc9", "osc99", "osc777", "off"] = "auto"
    """How to notify when a long turn ends or an approval waits, without focus."""
    editing: Literal["standard", "vim"] = "standard"
    """Keys of the prompt: standard or vim."""
    plain: bool = False
    """No frames, colours or symbols, for screen readers and simple terminals."""
    suggest_modes: bool = False
    """Suggest a mode that fits your message; it never changes by itself."""


class Settings(Group, frozen=True):
    """All settings."""

    model: Name = "auto"
    """Model to start with; auto uses the provider's default."""
    provider: Name = "auto"
    """Provider to start with; auto uses Ollama if it is running, else the embedded model."""
    sessions: Sessions = Sessions()
    """Where sessions are stored, and how many."""
    snapshots: Snapshots = Snapshots()
    """Restore points of the context."""
    compression: Compression = Compression()
    """How the context is compressed when it fills up."""
    context: Context = Context()
    """The context window, and what goes into every prompt."""
    loop_detection: LoopDetection = LoopDetection()
    """When to pause a model that repeats itself."""
    file_discovery: FileDiscovery = FileDiscovery()
    """How project files are found."""
    environment: Environment = Environment()
    """Which environment variables tools can see."""
    retention: Retention = Retention()
    """What is stored on disk, and for how long."""
    providers: Mapping[Name, ProviderSettings] = {}
    """Model servers by name, besides the built-in ones."""
    models: Mapping[Name, ModelSettings] = {}
    """Settings per model, by name."""
    modes: Mapping[Name, ModeSettings] = {}
    """Your own modes, by name."""
    tools: Tools = Tools()
    """What the model may do."""
    hooks: Mapping[HookEvent, tuple[Line, ...]] = {}
    """Commands to run on events."""
    mcp: Mapping[Name, McpServer] = {}
    """MCP servers by name; they add tools, resources and prompts."""
    extensions: Mapping[Name, ExtensionSettings] = {}
    """Extensions by name; installed ones are loaded unless disabled here."""
    search: Search = Search()
    """Search, and recall from earlier sessions."""
    sync: Sync = Sync()
    """Sync sessions between machines, through your own git remote."""
    ui: Interface = Interface()
    """How the screen looks."""
    keymap: Mapping[Name, Line] = {}
    """Keys by command id; separate several with commas."""

    def answers_at_once(self, provider: str) -> int:
        """How many requests a provider answers at once."""
        return self.providers.get(provider, ProviderSettings()).answers_at_once(provider)
