"""Finds the credentials and the region for Amazon: in the environment, in the profile files, by a
program, or by botocore's whole chain where that is installed."""

from __future__ import annotations

import configparser
import importlib
import json
import shlex
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ollm_tui.core.errors import AuthFailed
from ollm_tui.providers.wire.aws_signing import Credentials

PROCESS_SECONDS = 30.0
"""How long a `credential_process` may take."""
RENEW_BEFORE = timedelta(minutes=5)
"""Credentials are fetched again when they have less time left than this."""
_CHAIN_HINT = "pip install 'ollm-tui[bedrock]' for roles, single sign-on and machine roles"


class AwsAccount:
    """The credentials of one profile, fetched when they are first needed and when they end."""

    def __init__(self, name: str, environ: Mapping[str, str], profile: str | None = None) -> None:
        self._name = name
        self._environ = environ
        self._asked = profile
        self._profile = profile or environ.get("AWS_PROFILE") or "default"
        self._known: Credentials | None = None

    @property
    def bearer(self) -> str | None:
        """A key of Bedrock's own, which outranks all others."""
        return self._environ.get("AWS_BEARER_TOKEN_BEDROCK", "").strip() or None

    def region(self) -> str | None:
        """Return the region of the environment, else of the profile; None if there is none."""
        environ = self._environ
        said = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
        return said or self._section("config").get("region") or None

    def credentials(self) -> Credentials:
        """Return credentials that hold for a while. AuthFailed if there are none."""
        known = self._known
        ends = known.expires if known else None
        if known is None or (ends and ends - datetime.now(UTC) < RENEW_BEFORE):
            self._known = known = self._find()
        return known

    def _find(self) -> Credentials:
        environ, stored, config = (
            self._environ,
            self._section("credentials"),
            self._section("config"),
        )
        # A profile that is asked for outranks the environment.
        sources = [stored, config] if self._asked else [_of(environ), stored, config]
        needs_chain = any("role_arn" in s or "sso_session" in s for s in (stored, config))
        for source in sources if not needs_chain else sources[:-2]:
            if source.get("aws_access_key_id") and source.get("aws_secret_access_key"):
                return Credentials(
                    source["aws_access_key_id"],
                    source["aws_secret_access_key"],
                    source.get("aws_session_token") or None,
                )
        for source in (stored, config):
            if command := source.get("credential_process"):
                return self._from_process(command)
        return self._from_chain()

    def _from_process(self, command: str) -> Credentials:
        hint = "run this profile's credential_process by hand to see why"
        try:
            done = subprocess.run(
                shlex.split(command),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PROCESS_SECONDS,
                env=dict(self._environ),
                check=True,
            )
            said = json.loads(done.stdout)
            ends = said.get("Expiration")
            expires = datetime.fromisoformat(ends) if ends else None
            return Credentials(
                said["AccessKeyId"], said["SecretAccessKey"], said.get("SessionToken"), expires
            )
        except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError):
            # Without its cause: the output of the program may be a key.
            raise AuthFailed(f"the credential_process of {self._name} gave no key", hint) from None

    def _from_chain(self) -> Credentials:
        try:
            # Few need it, and it takes 0.3 s to load.
            session: Any = importlib.import_module("botocore.session")
            errors: Any = importlib.import_module("botocore.exceptions")
        except ImportError:
            raise AuthFailed(
                f"{self._name} needs AWS credentials",
                f"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile; {_CHAIN_HINT}",
            ) from None
        try:
            found = session.Session(profile=self._asked).get_credentials()
            frozen = found.get_frozen_credentials() if found else None
        except (errors.BotoCoreError, errors.ClientError) as error:
            # Its words may hold more than a name.
            name = type(error).__name__
            raise AuthFailed(f"no credentials found for {self._name} ({name})") from None
        if frozen is None:
            hint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile"
            raise AuthFailed(f"{self._name} needs AWS credentials", hint)
        soon = datetime.now(UTC) + 2 * RENEW_BEFORE
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token, soon)

    def _section(self, kind: str) -> Mapping[str, str]:
        """Return what a file says of the profile; `kind` is "credentials" or "config"."""
        named = {"credentials": "AWS_SHARED_CREDENTIALS_FILE", "config": "AWS_CONFIG_FILE"}[kind]
        home = Path(self._environ.get("HOME", "~")).expanduser()
        file = Path(self._environ.get(named) or home / ".aws" / kind).expanduser()
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(file.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, configparser.Error):
            return {}
        for name in (self._profile, f"profile {self._profile}"):
            if parser.has_section(name):
                return dict(parser.items(name))
        return {}


def _of(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the keys of the environment under the names that they have in files."""
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    return {name: environ[name.upper()] for name in names if environ.get(name.upper())}
