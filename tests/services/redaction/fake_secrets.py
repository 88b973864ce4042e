"""Fake secrets in the official formats, random and made anew in each run: none stands in a file."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

ALNUM = ascii_letters + digits
HEX = "0123456789abcdef"
LOWER = ascii_lowercase + digits
UPPER = ascii_uppercase + digits
URL_SAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"

Maker = Callable[[random.Random], str]

_CLASSES = {
    "a": ALNUM,
    "h": HEX,
    "l": LOWER,
    "U": UPPER,
    "w": URL_SAFE,
    "b": BASE64,
    "d": digits,
    "L": ascii_letters,
    "B": BECH32,
    "u": "",
}


def fill(rng: random.Random, *pieces: str | tuple[str, int]) -> str:
    """Literal pieces and (class, length) pieces; ("u", 0) is a UUID."""
    return "".join(piece if isinstance(piece, str) else _random(rng, *piece) for piece in pieces)


def _random(rng: random.Random, kind: str, length: int) -> str:
    if kind == "u":
        raw = _random(rng, "h", 32)
        return "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))
    body = "".join(rng.choices(_CLASSES[kind], k=length))
    # A body that ends in a mark is cut there by everything that reads words.
    return body if not body or body[-1].isalnum() else body[:-1] + "a7"[length % 2]


def jwt(rng: random.Random) -> str:
    """A signed token with a header and a payload."""
    header, payload = {"alg": "HS256", "typ": "JWT"}, {"sub": _random(rng, "d", 10), "n": "x"}
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in (header, payload)
    ]
    return ".".join((*parts, _random(rng, "w", 43)))


def pem(rng: random.Random, label: str = "RSA ") -> str:
    """A private key block; the data means nothing."""
    lines = "\n".join(_random(rng, "b", 64) for _ in range(12))
    dashes = "-" * 5
    name = f"{label}PRIVATE KEY"
    return f"{dashes}BEGIN {name}{dashes}\n{lines}\n{dashes}END {name}{dashes}"


def one(*pieces: str | tuple[str, int]) -> Maker:
    """A maker of one format."""
    return lambda rng: fill(rng, *pieces)


FORMATS: dict[str, Maker] = {
    "github classic": one("ghp", "_", ("a", 36)),
    "github oauth": one("gho", "_", ("a", 36)),
    "github user": one("ghu", "_", ("a", 36)),
    "github server": one("ghs", "_", ("a", 36)),
    "github refresh": one("ghr", "_", ("a", 36)),
    "github fine-grained": one("github", "_pat_", ("a", 22), "_", ("a", 59)),
    "gitlab personal": one("glpat", "-", ("w", 20)),
    "gitlab routable": one("glpat", "-", ("w", 27), ".01.", ("l", 9)),
    "gitlab deploy": one("gldt", "-", ("w", 20)),
    "gitlab runner": one("glrt", "-", ("w", 20)),
    "gitlab build": one("glcbt", "-", ("w", 23)),
    "gitlab trigger": one("glptt", "-", ("h", 40)),
    "gitlab runner old": one("GR1348", "941", ("w", 20)),
    "bitbucket": one("ATB", "B", ("a", 32)),
    "atlassian": one("ATAT", "T3", ("w", 186)),
    "azure devops": one(("a", 76), "AZ", "DO", ("a", 4)),
    "circleci": one("CCI", "PAT_", ("a", 22), "_", ("h", 40)),
    "buildkite": one("bku", "a_", ("h", 40)),
    "sonarqube": one("sq", "u_", ("h", 40)),
    "sourcegraph": one("sg", "p_", ("h", 40)),
    "aws access": one("AK", "IA", ("U", 16)),
    "aws temporary": one("AS", "IA", ("U", 16)),
    "aws bedrock": one("AB", "SK", ("b", 120)),
    "aws appsync": one("da", "2-", ("l", 26)),
    "aws mws": one("amzn.", "mws.", ("u", 0)),
    "google api": one("AI", "za", ("w", 35)),
    "google oauth": one("ya", "29.", ("w", 120)),
    "google client": one("GOC", "SPX-", ("w", 28)),
    "google refresh": one("1/", "/0", ("w", 60)),
    "firebase": one(("w", 11), ":APA", "91b", ("w", 134)),
    "azure client": one(("a", 3), "8Q", "~", ("a", 34)),
    "azure ai": one(("a", 52), "JQQ", "J99", ("a", 26)),
    "azure storage": one(("b", 76), "+A", "St", ("a", 6), "=="),
    "azure search": one(("a", 42), "Az", "Se", ("a", 6)),
    "alibaba": one("LT", "AI", ("a", 20)),
    "tencent": one("AK", "ID", ("a", 32)),
    "digitalocean": one("dop", "_v1_", ("h", 64)),
    "heroku": one("HRK", "U-AA", ("w", 58)),
    "cloudflare origin": one("v1", ".0-", ("h", 24), "-", ("h", 146)),
    "fly": one("fo", "1_", ("w", 43)),
    "netlify": one("nf", "p_", ("a", 36)),
    "vercel": one("vc", "p_", ("a", 56)),
    "openshift": one("sha256", "~", ("w", 43)),
    "databricks": one("da", "pi", ("h", 32)),
    "supabase": one("sb", "p_", ("h", 40)),
    "supabase secret": one("sb", "_secret_", ("w", 31)),
    "planetscale": one("pscale", "_tkn_", ("w", 43)),
    "neon": one("na", "pi_", ("l", 64)),
    "aiven": one("AV", "NS_", ("w", 19)),
    "airtable": one("pa", "t", ("a", 14), ".", ("h", 64)),
    "npm": one("np", "m_", ("a", 36)),
    "pypi": one("py", "pi-AgEIcHlwaS5vcmc", ("w", 120)),
    "rubygems": one("ruby", "gems_", ("h", 48)),
    "crates": one("ci", "o", ("a", 32)),
    "nuget": one("oy", "2", ("l", 43)),
    "docker": one("dckr", "_pat_", ("w", 27)),
    "artifactory": one("AK", "Cp", ("a", 69)),
    "vault": one("hv", "s.", ("w", 92)),
    "terraform": one(("a", 14), ".atlas", "v1.", ("w", 64)),
    "doppler": one("dp", ".pt.", ("a", 43)),
    "pulumi": one("pu", "l-", ("h", 40)),
    "age": one("AGE-SEC", "RET-KEY-1", ("B", 58)),
    "1password": one("op", "s_eyJ", ("a", 300)),
    "tailscale": one("tsk", "ey-auth-", ("a", 12), "-", ("a", 32)),
    "grafana": one("gl", "sa_", ("a", 32), "_", ("h", 8)),
    "grafana cloud": one("gl", "c_", ("a", 64)),
    "newrelic": one("NR", "AK-", ("U", 27)),
    "sentry": one("sntr", "yu_", ("h", 64)),
    "dynatrace": one("dt0", "c01.", ("U", 24), ".", ("U", 64)),
    "postman": one("PM", "AK-", ("h", 24), "-", ("h", 34)),
    "anthropic": one("sk-", "ant-api03-", ("w", 93), "AA"),
    "openai": one("sk", "-", ("a", 20), "T3Blbk", "FJ", ("a", 20)),
    "openai project": one("sk", "-proj-", ("w", 74), "T3Blbk", "FJ", ("w", 74)),
    "openai service": one("sk", "-svcacct-", ("w", 100)),
    "openrouter": one("sk", "-or-v1-", ("h", 64)),
    "deepseek": one("sk", "-", ("h", 32)),
    "groq": one("gs", "k_", ("a", 52)),
    "huggingface": one("h", "f_", ("L", 34)),
    "replicate": one("r", "8_", ("a", 37)),
    "perplexity": one("pp", "lx-", ("a", 48)),
    "xai": one("xa", "i-", ("a", 80)),
    "nvidia": one("nv", "api-", ("w", 64)),
    "langsmith": one("ls", "v2_pt_", ("h", 32), "_", ("h", 10)),
    "pinecone": one("pc", "sk_", ("a", 6), "_", ("a", 63)),
    "slack bot": one("xo", "xb-", ("d", 12), "-", ("d", 12), "-", ("a", 24)),
    "slack user": one("xo", "xp-", ("d", 12), "-", ("d", 12), "-", ("d", 12), "-", ("h", 32)),
    "slack app": one("xa", "pp-1-A", ("U", 10), "-", ("d", 13), "-", ("h", 64)),
    "slack refresh": one("xo", "xe-1-", ("a", 140)),
    "slack hook": one(
        "https://hooks.", "slack.com/services/T", ("U", 8), "/B", ("U", 8), "/", ("a", 24)
    ),
    "telegram": one("12345", ("d", 5), ":A", "A", ("w", 33)),
    "discord": one("MT", ("a", 24), ".", ("a", 6), ".", ("w", 38)),
    "discord hook": one("https://discord.com/api/", "webhooks/", ("d", 18), "/", ("w", 68)),
    "facebook": one("EA", "A", ("a", 150)),
    "stripe": one("sk", "_live_", ("a", 24)),
    "stripe restricted": one("rk", "_live_", ("a", 99)),
    "stripe hook": one("wh", "sec_", ("a", 32)),
    "square": one("sq0", "atp-", ("w", 22)),
    "square secret": one("sq0", "csp-", ("w", 43)),
    "braintree": one("access_", "token$production$", ("l", 16), "$", ("h", 32)),
    "shopify": one("shp", "at_", ("h", 32)),
    "plaid": one("access-", "production-", ("u", 0)),
    "flutterwave": one("FLW", "SECK-", ("h", 32), "-X"),
    "easypost": one("EZ", "AK", ("a", 54)),
    "sendgrid": one("S", "G.", ("w", 22), ".", ("w", 43)),
    "twilio": one("S", "K", ("h", 32)),
    "mailgun": one("ke", "y-", ("h", 32)),
    "mailchimp": one(("h", 32), "-u", "s14"),
    "brevo": one("xkey", "sib-", ("h", 64), "-", ("a", 16)),
    "resend": one("r", "e_", ("a", 8), "_", ("a", 24)),
    "linear": one("lin", "_api_", ("a", 40)),
    "notion": one("nt", "n_", ("a", 46)),
    "notion old": one("secr", "et_5", ("a", 42)),
    "figma": one("fig", "d_", ("w", 40)),
    "asana": one("1/1", ("d", 15), ":", ("h", 32)),
    "clickup": one("pk", "_", ("d", 8), "_", ("U", 32)),
    "hubspot": one("pat", "-na1-", ("u", 0)),
    "contentful": one("CF", "PAT-", ("w", 43)),
    "mapbox": one("sk", ".eyJ", ("a", 60), ".", ("w", 22)),
    "posthog": one("ph", "x_", ("a", 43)),
    "launchdarkly": one("sd", "k-", ("u", 0)),
    "typeform": one("tf", "p_", ("w", 59)),
    "octopus": one("AP", "I-", ("U", 26)),
    "clickhouse": one("4b", "1d", ("a", 38)),
    "lob": one("li", "ve_", ("h", 35)),
    "maxmind": one(("a", 6), "_", ("a", 29), "_m", "mk"),
    "wallet": one("xp", "rv", ("a", 107)),
    "web token": jwt,
    "private key": pem,
    "openssh key": lambda rng: pem(rng, "OPENSSH "),
    "pkcs8 key": lambda rng: pem(rng, ""),
    "pgp key": lambda rng: pem(rng, "PGP ").replace("KEY", "KEY BLOCK"),
    "key in base64": lambda rng: base64.b64encode(pem(rng).encode()).decode(),
    "address": lambda rng: fill(rng, "postgres://app:", ("a", 14), "@db.internal:5432/app"),
    "address of a queue": lambda rng: fill(rng, "amqps://me:", ("a", 9), "%21@mq.internal/x"),
    "bearer header": lambda rng: fill(rng, "Authorization: Bearer ", ("w", 40)),
    "basic header": lambda rng: fill(rng, "Authorization: Basic ", ("b", 24), "=="),
    "cookie header": lambda rng: fill(
        rng, "Cookie: sessionid=", ("l", 32), "; csrftoken=", ("a", 32)
    ),
}
"""Everything that says itself what it is. At least a hundred."""

SETTINGS = (
    "password = {q}",
    "password: {p}",
    "password={p}",
    'password="{p}"',
    "'password': '{p}'",
    '"password": "{p}",',
    '{{"user": "me", "password": "{p}"}}',
    '{{\\"password\\": \\"{p}\\"}}',
    "DB_PASSWORD={p}",
    'export DB_PASSWORD="{p}"',
    "POSTGRES_PASSWORD: {p}",
    "spring.datasource.password={p}",
    "Server=db;Database=app;User Id=sa;Password={p};Encrypt=true",
    "mysql_pwd: {p}",
    'String dbPassword = "{p}";',
    'const password = "{p}";',
    'let password: &str = "{p}";',
    'password: str = "{p}"',
    'password := "{p}"',
    ":password => '{p}'",
    "define('DB_PASSWORD', '{p}');",
    'config["password"] = "{p}"',
    "<password>{p}</password>",
    '<input name="password" value="{p}">',
    "- name: DB_PASSWORD\n  value: {p}",
    '{{"name": "DB_PASSWORD", "value": "{p}"}}',
    "mysql --user root --password={p} app",
    "tool --password {p} --verbose",
    "curl -u admin:{p} https://api.internal/",
    "machine api.internal login me password {p}",
    "the password is {p}",
    "CREATE USER app IDENTIFIED BY '{p}';",
    "ALTER USER app WITH PASSWORD '{p}';",
    "Password: {p}",
    "smtp_pass={p}",
    'passphrase: "{p}"',
    'api_key = "{t}"',
    "api_key={t}",
    "API_KEY={t}",
    'apiKey: "{t}",',
    '"apiKey": "{t}"',
    "X-Api-Key: {t}",
    "x-auth-token: {t}",
    "PRIVATE-TOKEN: {t}",
    "api-key: {t}",
    "access_token={t}&expires=3600",
    "https://api.internal/v1/items?api_key={t}&page=2",
    '{{"access_token":"{t}","token_type":"bearer"}}',
    '"refresh_token": "{t}"',
    "AUTH_TOKEN='{t}'",
    "//registry.internal/:_authToken={t}",
    '"auth": "{t}"',
    "client_secret: {t}",
    'CLIENT_SECRET="{t}"',
    "SECRET_KEY = '{t}'",
    "SECRET_KEY_BASE={t}",
    "aws_secret_access_key = {t}",
    "AWS_SECRET_ACCESS_KEY={t}",
    '"aws_session_token": "{t}"',
    "webhook_secret: {t}",
    "jwtSecret: '{t}'",
    "encryption_key={t}",
    "SIGNING_KEY: {t}",
    "AccountKey={t};EndpointSuffix=core.internal",
    "SharedAccessKey={t}",
    "DATADOG_API_KEY={t}",
    "Ocp-Apim-Subscription-Key: {t}",
    'os.environ["SERVICE_TOKEN"] = "{t}"',
    'os.environ.get("API_KEY", "{t}")',
    "Bearer {t}",
    'headers = {{"Authorization": "Token {t}"}}',
    "-H 'Authorization: {t}'",
    "https://storage.internal/x?sv=2022&sig={t}",
    "https://{t}@git.internal/me/x.git",
    "deploy --token {t} --prod",
    "deploy --api-key={t}",
    "ENV API_TOKEN={t}",
    "-e API_TOKEN={t} image",
    "token: {t}",
    "token = '{t}'",
    "the token is {t}.",
    "private_key: {t}",
    "LICENSE_KEY={t}",
    "session_secret={t}",
    "WEBHOOK_SECRET={t}",
    'consumer_secret = "{t}"',
    '[auth]\ntoken = "{t}"',
    "TF_VAR_db_password={p}",
    "redis_password: '{p}'",
)
"""Places where only the name beside a value says that it is secret."""


def password(rng: random.Random) -> str:
    """As people and generators make them."""
    word = "".join(rng.choices(ascii_lowercase, k=rng.randint(4, 8)))
    shapes = (
        f"{word.title()}{rng.randint(10, 9999)}!",
        f"{word}{rng.randint(10, 999)}",
        f"{word[:3]}{rng.randint(0, 9)}{word[3:]}@{rng.randint(0, 99)}",
        _random(rng, "a", 12) + "9x",
        f"{word}-{rng.randint(10, 99)}-{word[::-1]}Q7#z",
    )
    return rng.choice(shapes)


def machine_token(rng: random.Random) -> str:
    """As servers make them: no prefix, letters and digits."""
    kind, length = rng.choice((("h", 32), ("h", 40), ("a", 24), ("a", 40), ("w", 43), ("u", 0)))
    made = _random(rng, kind, length)
    has_both = made[0].isalnum() and any(letter.isdigit() for letter in made)
    return made if has_both else "k7" + made[2:]


def placed(template: str, rng: random.Random) -> tuple[str, str]:
    """A text and the secret in it."""
    secret = machine_token(rng) if "{t}" in template else password(rng)
    quoted = f'"{secret}"'
    return template.format(p=secret, t=secret, q=quoted), secret
