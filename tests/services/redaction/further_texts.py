"""A second corpus, written without looking at the rules: further formats, places, look-alikes."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable

from tests.services.redaction.fake_secrets import fill


def _made(*pieces: str | tuple[str, int]) -> Callable[[random.Random], str]:
    return lambda rng: fill(rng, *pieces)


FURTHER_FORMATS: dict[str, Callable[[random.Random], str]] = {
    "axiom": _made("xaat-", ("u", 0)),
    "cockroach": _made("CCDB1_", ("a", 22), "_", ("a", 40)),
    "databricks client": _made("dose", ("h", 32)),
    "fireworks": _made("fw_", ("a", 24)),
    "honeycomb": _made("hcaik_", ("l", 58)),
    "infisical": _made("st.", ("h", 24), ".", ("h", 32), ".", ("h", 32)),
    "langsmith, old": _made("ls__", ("h", 32)),
    "mailersend": _made("mlsn.", ("h", 64)),
    "modal": _made("as-", ("a", 22)),
    "mollie": _made("live_", ("a", 30)),
    "ory": _made("ory_pat_", ("a", 32)),
    "paddle": _made("pdl_live_apikey_", ("l", 26), "_", ("a", 22), "_", ("a", 3)),
    "polar": _made("polar_oat_", ("a", 43)),
    "runpod": _made("rpa_", ("U", 38), ("l", 6)),
    "slack workflow": _made("xwfp-", ("d", 12), "-", ("a", 40)),
    "stytch": _made("secret-live-", ("w", 36)),
    "trigger": _made("tr_prod_", ("a", 24)),
    "vault, old": _made("s.", ("a", 24)),
    "vercel blob": _made("vercel_blob_rw_", ("a", 16), "_", ("a", 30)),
    "voyage": _made("pa-", ("w", 43)),
    "xata": _made("xau_", ("a", 32)),
    "zapier": _made("https://hooks.zapier.com/hooks/catch/", ("d", 7), "/", ("l", 7), "/"),
    "zuplo": _made("zpka_", ("h", 32), "_", ("h", 8)),
}

FURTHER_SETTINGS = (
    '$env:DB_PASSWORD = "{p}"',
    "SET PGPASSWORD={p}",
    "PGPASSWORD={p} psql -h db -U app",
    '<add key="ApiKey" value="{t}" />',
    "kubectl create secret generic app --from-literal=password={p}",
    "helm upgrade app chart --set auth.rootPassword={p}",
    "vault kv put secret/app db_password={p}",
    "requirepass {p}",
    "jdbc:mysql://db:3306/app?user=me&password={p}",
    'builder.setPassword("{p}");',
    '"DefaultConnection": "Host=db;Username=a;Password={p}"',
    "aws configure set aws_secret_access_key {t}",
    'gh secret set API_TOKEN --body "{t}"',
    "openssl enc -aes-256-cbc -in a -out b -pass pass:{p}",
    "config.secret_key_base = '{t}'",
    "X-Vault-Token: {t}",
    "Set-Cookie: session={t}; HttpOnly; Secure",
    'psk="{p}"',
    'admin_password   =   "{p}"',
    "| password | {p} |",
    '"secret_access_key"=>"{t}",',
    "mot de passe : {p}",
    "Passwort: {p}",
    "PRIVATE_KEY=0x{t}",
    "Proxy-Authorization: Basic {t}",
    "SLACK_SIGNING_SECRET={t}",
    "<ApiToken>{t}</ApiToken>",
    "rabbitmqctl add_user app {p}",
    "auth_token: !!str {t}",
    "db.user=app\ndb.pass={p}\n",
)

_DIGEST = hashlib.sha256(b"further").hexdigest()

FURTHER_HARMLESS: tuple[str, ...] = (
    "fw_rules and pa-system are fine; s.strip() too, and st.session_state.page",
    "as-of-2026-01-01 the live_reload flag is on; tr_prod_table is a name",
    f"docker pull python@sha256:{_DIGEST}",
    f'"resolved": "left-pad-1.3.0.tgz#{_DIGEST[:40]}"',
    f'ETag: "{_DIGEST[:32]}"',
    f"X-Request-Id: {_DIGEST[:8]}-{_DIGEST[8:12]}-{_DIGEST[12:16]}-{_DIGEST[20:32]}",
    "kubectl get secret app -o jsonpath='{.data.password}'",
    "password_hash = bcrypt.hashpw(password, bcrypt.gensalt(12))",
    "const [password, setPassword] = useState('');",
    "public string Password { get; set; } = string.Empty;",
    "var token = await _tokens.CreateAsync(user, cancellationToken);",
    "func (s *Server) token(w http.ResponseWriter, r *http.Request) error {",
    "errors.add(:password, :too_short, count: 8)",
    '<label for="password">Password (8 to 64 characters)</label>',
    "v-model=\"form.password\" :type=\"show ? 'text' : 'password'\"",
    "SELECT token, expires_at FROM api_tokens WHERE user_id = $1",
    "ALTER TABLE users ADD COLUMN password_digest varchar(60);",
    "token.expires_in: 3600, refresh_token.expires_in: 1209600",
    "tokens per second: 31.4, time to first token: 220ms",
    "The API key field is required. Your token has expired, sign in again.",
    "secrets: [db_password, api_key]",
    "env:\n  - name: TOKEN\n    valueFrom:\n      secretKeyRef:\n        key: token",
    "with open(os.path.expanduser('~/.ssh/id_ed25519')) as key:",
    "ssh-keygen -t ed25519 -f ./deploy_key -N ''",
    "SHA256:" + "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg" + " me@host (ED25519)",
    "gpg --recv-keys 0xA1B2C3D4E5F60718",
    "keyboard_layout: de-latin1, keymap: us, key_repeat: 25",
    "map_key=region_eu_west_1, partition_key=2026-01-01",
    "idempotency_key: order-2026-000123",
    "git log --format=%H -1 && git rev-parse HEAD~3",
    "Password must contain: 1 digit, 1 symbol (!@#$%), 12+ characters",
    "passwordless sudo; password-less login; bypass=1",
    "--password-stdin, --token-file=./token.txt, --key-id 4",
    "auth: jwt, oauth2, basic; auth_method=kerberos5",
    "AUTH_USER_MODEL = 'accounts.User'",
    "PASSWORD_HASHERS = ['django.contrib.auth.hashers.Argon2PasswordHasher']",
    "const API_KEY_HEADER = 'x-api-key';",
    'token := strings.TrimPrefix(header, "Bearer ")',
    "let secret = Secret::generate(32);",
    "GET /v1/tokens?page=2&limit=50 HTTP/1.1 200 1234",
    "credentials: 'include', mode: 'cors'",
    "aws_access_key_id = <access key>",
)
