"""Every error a user can meet, as one tree.

OllmError                   a message for the user and a hint what to do
├─ UsageError               what was typed cannot be understood
├─ SettingsError            settings that cannot be used at all (no home directory)
├─ StoreError               the store cannot do what was asked
│  ├─ SessionNotFound       no session has that id or prefix
│  ├─ AmbiguousId           several sessions start with that prefix
│  ├─ SessionDamaged        a session's files cannot be read
│  │  └─ SessionTooLarge    they are larger than the settings allow
│  ├─ SessionBusy           another process is writing that session
│  └─ SessionReadOnly       written by a newer version, may only be read
├─ JobError                 a job cannot be run, found or ended
├─ ToolError                a tool cannot do what the model asked for
└─ ProviderError            a model server cannot do what was asked
   ├─ Unavailable           no answer, or the connection broke
   ├─ AuthFailed            the key is missing or was refused
   ├─ RateLimited           too many requests; may say when to try again
   ├─ ModelMissing          the server does not have that model
   ├─ OverLimit             the prompt is longer than the window
   └─ BadAnswer             the server's answer cannot be understood
"""

from __future__ import annotations

import re

_PLAIN_WORD = re.compile(r"(?!ollm\b)[a-z]+(?=[ ,]|$)")
"""The first word of a text, unless it is a name as it is typed: of a file, a model, the program."""


def sentence(text: str) -> str:
    """Return a text that begins with a capital, as one that stands alone does."""
    return text[:1].upper() + text[1:] if _PLAIN_WORD.match(text) else text


class OllmError(Exception):
    """An error fit for the user: one plain line, and a hint what to do about it.

    Both may follow other words, as in `ollm: no session 3f2a (ollm sessions list)`.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def line(self) -> str:
        """Message and hint in one line, as a screen shows them."""
        return " · ".join(part for part in (sentence(self.message), self.hint) if part)

    @property
    def lines(self) -> str:
        """Message and hint, each in a line of its own."""
        return "\n".join(sentence(part) for part in (self.message, self.hint) if part)


class UsageError(OllmError):
    """What was typed cannot be understood."""


class SettingsError(OllmError):
    """Settings that leave no way to start, such as no home directory."""


class StoreError(OllmError):
    """The store cannot do what was asked."""


class SessionNotFound(StoreError):
    """No session has that id or prefix."""


class AmbiguousId(StoreError):
    """Several sessions start with that prefix."""


class SessionDamaged(StoreError):
    """A session's files cannot be read."""


class SessionTooLarge(SessionDamaged):
    """A session's files are larger than what the settings allow to be read."""


class SessionBusy(StoreError):
    """Another process is writing that session; `session_id` says which, where that is known."""

    session_id = ""


class SessionReadOnly(StoreError):
    """The session was written by a newer version and may only be read."""


class JobError(OllmError):
    """A job cannot be run, found or ended."""


class ToolError(OllmError):
    """A tool cannot do what the model asked for; the model reads the message too."""


class ProviderError(OllmError):
    """A model server cannot do what was asked."""


class Unavailable(ProviderError):
    """The server does not answer, or the connection broke."""


class AuthFailed(ProviderError):
    """The key is missing or was refused."""


class RateLimited(ProviderError):
    """Too many requests; `retry_after` is in seconds, None where the server does not say."""

    def __init__(self, message: str, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint)
        self.retry_after = retry_after


class ModelMissing(ProviderError):
    """The server does not have that model."""


class OverLimit(ProviderError):
    """The prompt is longer than the window; both are in tokens, where the server says them."""

    def __init__(
        self,
        message: str,
        hint: str = "",
        prompt_tokens: int | None = None,
        window: int | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.prompt_tokens = prompt_tokens
        self.window = window


class BadAnswer(ProviderError):
    """The server's answer cannot be understood."""
