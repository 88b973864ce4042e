"""A second examiner's formats of services, written without sight of the rules."""

from tests.services.redaction.examiner_addresses import KEYS_AND_ADDRESSES
from tests.services.redaction.examiner_values import (
    BASE32,
    BASE64,
    BECH32,
    DIGITS,
    HEX,
    LETTERS,
    LOWER,
    UPPER,
    UPPER_HEX,
    URL64,
    WORD,
    Case,
    bare,
    base64_of,
    fake,
    fake_uuid,
    pem,
    pem_body,
    with_checksum,
    within,
)


def _clouds() -> list[Case]:
    storage = fake(BASE64, 86, "azure") + "=="
    signature = fake(WORD, 43, "sas") + "%3D"
    return [
        bare("aws access key id", "AKIA" + fake(BASE32, 16, "aws")),
        bare("aws temporary key id", "ASIA" + fake(BASE32, 16, "aws")),
        within(
            "aws secret in credentials",
            "[default]\naws_secret_access_key = @@\n",
            fake(BASE64, 40, "a"),
        ),
        within("aws secret exported", "export AWS_SECRET_ACCESS_KEY=@@", fake(BASE64, 40, "b")),
        within(
            "aws session token", "aws_session_token=@@", "IQoJb3JpZ2luX2Vj" + fake(BASE64, 300, "s")
        ),
        within("aws sts json", '{"SecretAccessKey": "@@", "Version": 1}', fake(BASE64, 40, "c")),
        within(
            "aws presigned url",
            "https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=@@",
            fake(HEX, 64, "sig"),
        ),
        bare("aws bedrock key", "ABSK" + fake(BASE64, 128, "bedrock")),
        within("aws appsync key", "x-api-key: @@", "da2-" + fake(LOWER, 26, "appsync")),
        (
            "gcp service account private key",
            '{"type": "service_account", "private_key": "'
            + pem("PRIVATE KEY", "gcp").replace("\n", "\\n")
            + '\\n", "client_email": "x@y.iam.gserviceaccount.com"}',
            pem_body("PRIVATE KEY", "gcp"),
        ),
        bare("google api key", "AIza" + fake(URL64, 35, "g")),
        bare("google oauth client secret", "GOCSPX-" + fake(URL64, 28, "g")),
        bare("google oauth access token", "ya29." + fake(URL64, 160, "g")),
        within("google refresh token", '"refresh_token": "@@"', "1//0" + fake(URL64, 97, "g")),
        within(
            "azure storage connection string",
            "DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=@@;EndpointSuffix=core.windows.net",
            storage,
        ),
        within(
            "azure sas",
            "https://a.blob.core.windows.net/c?sv=2022-11-02&ss=b&srt=sco&sp=rwd&se=2030-01-01&sig=@@",
            signature,
        ),
        bare("azure client secret", fake(WORD, 3, "z") + "8Q~" + fake(WORD + "_-", 34, "z")),
        within(
            "azure service bus",
            "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=@@",
            fake(BASE64, 43, "sb") + "=",
        ),
        within(
            "azure cosmos",
            "AccountEndpoint=https://x.documents.azure.com:443/;AccountKey=@@;",
            storage,
        ),
        within(
            "azure devops pat",
            "AZURE_DEVOPS_EXT_PAT=@@",
            fake("abcdefghijklmnopqrstuvwxyz234567", 52),
        ),
        within("azure openai key", "AZURE_OPENAI_API_KEY=@@", fake(HEX, 32, "aoai")),
        within(
            "azure function key",
            "https://f.azurewebsites.net/api/h?code=@@",
            fake(URL64, 54, "fn") + "==",
        ),
        bare("alibaba key id", "LTAI5t" + fake(WORD, 18, "ali")),
        bare("tencent secret id", "AKID" + fake(WORD, 32, "tencent")),
        bare("digitalocean pat", "dop_v1_" + fake(HEX, 64, "do")),
        bare("digitalocean oauth", "doo_v1_" + fake(HEX, 64, "do")),
        bare("digitalocean refresh", "dor_v1_" + fake(HEX, 64, "do")),
        within("heroku api key", "HEROKU_API_KEY=@@", fake_uuid("heroku")),
        bare("heroku new key", "HRKU-AA" + fake(URL64, 58, "heroku")),
        within("cloudflare api token", "CLOUDFLARE_API_TOKEN=@@", fake(URL64, 40, "cf")),
        within("cloudflare global key", "X-Auth-Key: @@", fake(HEX, 37, "cf")),
        bare("cloudflare origin ca", "v1.0-" + fake(HEX, 24, "cf") + "-" + fake(HEX, 146, "cf")),
        within("fastly", "Fastly-Key: @@", fake(URL64, 32, "fastly")),
        within("linode", "LINODE_TOKEN=@@", fake(HEX, 64, "linode")),
        bare("scaleway key id", "SCW" + fake(UPPER, 17, "scw")),
        bare("fly.io token", "fm2_" + fake(BASE64, 200, "fly")),
        within("vercel token", "VERCEL_TOKEN=@@", fake(WORD, 24, "vercel")),
        bare("netlify token", "nfp_" + fake(WORD, 36, "netlify")),
        bare("render key", "rnd_" + fake(WORD, 28, "render")),
        within("hetzner token", "export HCLOUD_TOKEN=@@", fake(WORD, 64, "hcloud")),
    ]


def _forges_and_registries() -> list[Case]:
    fine = "github_pat_" + fake(WORD, 22, "p") + "_" + fake(WORD, 59, "p")
    kinds = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")
    labs = ("glpat-", "gldt-", "glrt-", "glsoat-", "glcbt-64_")
    return [
        *[bare(f"github {kind}", with_checksum(kind, kind)) for kind in kinds],
        bare("github fine-grained", fine),
        *[bare(f"gitlab {kind}", kind + fake(URL64, 20, kind)) for kind in labs],
        bare("gitlab trigger", "glptt-" + fake(HEX, 40, "lab")),
        bare("gitlab runner registration", "GR1348941" + fake(URL64, 20, "lab")),
        bare("bitbucket app password", "ATBB" + fake(WORD, 28, "bb") + fake(UPPER_HEX, 8, "bb")),
        bare(
            "atlassian api token",
            "ATATT3xFfGF0" + fake(URL64, 171, "at") + "=" + fake(UPPER_HEX, 8),
        ),
        bare(
            "bitbucket access token",
            "ATCTT3xFfGN0" + fake(URL64, 160, "at") + "=" + fake(UPPER_HEX, 8),
        ),
        bare("npm token", with_checksum("npm_", "npm")),
        within("npmrc", "//registry.example.org/:_authToken=@@\n", fake_uuid("npmrc")),
        within("npmrc basic", "_auth=@@\n", base64_of("bot:Winter-is-9-long")),
        within("npmrc password", "//r.example.org/:_password=@@\n", base64_of("kT3-plum-44-ox")),
        bare("pypi token", "pypi-AgEIcHlwaS5vcmc" + fake(URL64, 150, "pypi")),
        within("pypirc", "[pypi]\nusername = bob\npassword = @@\n", fake(WORD + "!%", 14, "rc")),
        bare("rubygems", "rubygems_" + fake(HEX, 48, "gems")),
        bare("crates.io", "cio" + fake(WORD, 32, "cio")),
        bare("docker hub pat", "dckr_pat_" + fake(URL64, 27, "hub")),
        bare("docker hub oat", "dckr_oat_" + fake(URL64, 32, "hub")),
        within(
            "docker config",
            '{"auths": {"https://index.docker.io/v1/": {"auth": "@@"}}}',
            base64_of("carol:fjord-88-mint"),
        ),
        within(
            "nuget key",
            "dotnet nuget push -k @@",
            "oy2" + fake("abcdefghijklmnopqrstuvwxyz234567", 43),
        ),
        bare("artifactory key", "AKCp" + fake(WORD, 69, "art")),
        bare("artifactory reference token", "cmVmdGtu" + fake(WORD, 56, "art")),
        bare("clojars", "CLOJARS_" + fake(LOWER, 60, "clj")),
        bare("circleci pat", "CCIPAT_" + fake(WORD, 22, "cci") + "_" + fake(HEX, 40, "cci")),
        bare("buildkite", "bkua_" + fake(HEX, 40, "bk")),
        within("travis", "TRAVIS_TOKEN=@@", fake(WORD, 22, "travis")),
        within("codecov", "CODECOV_TOKEN=@@", fake_uuid("codecov")),
        bare("sonar", "sqp_" + fake(HEX, 40, "sonar")),
    ]


def _messages_and_money() -> list[Case]:
    hook = "T" + fake(UPPER, 8, "t") + "/B" + fake(UPPER, 10, "b") + "/" + fake(WORD, 24, "slack")
    discord = fake(DIGITS, 18, "d") + "/" + fake(URL64, 68, "discord")
    numbers = fake(DIGITS, 12, "1") + "-" + fake(DIGITS, 13, "2")
    return [
        bare("slack bot", f"xoxb-{numbers}-" + fake(WORD, 24, "slack")),
        bare("slack user", f"xoxp-{numbers}-{fake(DIGITS, 13, '3')}-" + fake(HEX, 32, "slack")),
        bare(
            "slack workspace", f"xoxa-2-{numbers}-{fake(DIGITS, 12, '4')}-" + fake(HEX, 32, "slack")
        ),
        bare("slack legacy", f"xoxs-{numbers}-" + fake(HEX, 10, "slack")),
        bare("slack refresh", "xoxr-" + fake(DIGITS, 12) + "-" + fake(WORD, 40, "slack")),
        bare("slack configuration", "xoxe.xoxp-1-" + fake(WORD, 163, "slack")),
        bare("slack configuration refresh", "xoxe-1-" + fake(WORD, 146, "slack")),
        bare("slack client", f"xoxc-{numbers}-{fake(DIGITS, 13, '5')}-" + fake(HEX, 64, "slack")),
        bare("slack cookie", "xoxd-" + fake(WORD, 60, "slack") + "%2B" + fake(WORD, 40, "slack")),
        bare(
            "slack app",
            "xapp-1-A" + fake(UPPER, 10) + f"-{fake(DIGITS, 13)}-" + fake(HEX, 64, "slack"),
        ),
        ("slack webhook", f"curl https://hooks.slack.com/services/{hook}", hook[-24:]),
        ("slack workflow", f"https://hooks.slack.com/workflows/{hook}", hook[-24:]),
        ("discord webhook", f"https://discord.com/api/webhooks/{discord}", discord[19:]),
        bare(
            "discord bot",
            "M"
            + fake(WORD, 23, "bot")
            + "."
            + fake(URL64, 6, "bot")
            + "."
            + fake(URL64, 38, "bot"),
        ),
        within("telegram bot", f"bot{fake('123456789', 10)}:@@", "AA" + fake(URL64, 33, "tg")),
        (
            "teams webhook",
            "https://x.webhook.office.com/webhookb2/"
            + fake_uuid("a")
            + "@"
            + fake_uuid("b")
            + "/IncomingWebhook/"
            + fake(HEX, 32, "teams")
            + "/"
            + fake_uuid("c"),
            fake(HEX, 32, "teams"),
        ),
        bare("stripe live", "sk_live_" + fake(WORD, 24, "st")),
        bare("stripe new live", "sk_live_51" + fake(WORD, 97, "st")),
        bare("stripe test", "sk_test_" + fake(WORD, 24, "st")),
        bare("stripe restricted", "rk_live_" + fake(WORD, 24, "st")),
        bare("stripe webhook", "whsec_" + fake(WORD, 32, "st")),
        bare("twilio key sid", "SK" + fake(HEX, 32, "tw")),
        within("twilio auth token", "TWILIO_AUTH_TOKEN=@@", fake(HEX, 32, "tw")),
        bare("sendgrid", "SG." + fake(URL64, 22, "sg") + "." + fake(URL64, 43, "sg")),
        bare("mailgun", "key-" + fake(HEX, 32, "mg")),
        within(
            "mailgun new",
            "MAILGUN_API_KEY=@@",
            f"{fake(HEX, 32, 'm')}-{fake(HEX, 8)}-{fake(HEX, 8, 'n')}",
        ),
        bare("mailchimp", fake(HEX, 32, "mc") + "-us12"),
        bare("sendinblue", "xkeysib-" + fake(HEX, 64, "sib") + "-" + fake(WORD, 16, "sib")),
        within("postmark", "X-Postmark-Server-Token: @@", fake_uuid("postmark")),
        bare("resend", "re_" + fake(WORD, 8, "re") + "_" + fake(WORD, 24, "re")),
        *[
            bare(f"shopify {kind}", f"{kind}_" + fake(HEX, 32, kind))
            for kind in ("shpat", "shpca", "shppa", "shpss")
        ],
        bare("square access token", "EAAA" + fake(URL64, 60, "sq")),
        bare("square old access token", "sq0atp-" + fake(URL64, 22, "sq")),
        bare("square secret", "sq0csp-" + fake(URL64, 43, "sq")),
        bare(
            "braintree",
            "access_token$production$" + fake(LOWER, 16, "bt") + "$" + fake(HEX, 32, "bt"),
        ),
        within("paypal client secret", "PAYPAL_CLIENT_SECRET=@@", "E" + fake(URL64, 79, "pp")),
        bare("plaid", "access-production-" + fake_uuid("plaid")),
        bare("flutterwave", "FLWSECK_TEST-" + fake(HEX, 32, "flw") + "-X"),
        bare("facebook token", "EAACEdEose0cBA" + fake(WORD, 120, "fb")),
        bare(
            "twitter bearer",
            "AAAAAAAAAAAAAAAAAAAAA" + fake(WORD, 20, "x") + "%2B" + fake(WORD, 60, "x"),
        ),
        bare("dropbox", "sl." + fake(URL64, 135, "db")),
    ]


def _models() -> list[Case]:
    middle = "T3BlbkFJ"
    return [
        bare("openai legacy", "sk-" + fake(WORD, 20, "o") + middle + fake(WORD, 20, "p")),
        bare("openai project", "sk-proj-" + fake(URL64, 74, "o") + middle + fake(URL64, 74, "p")),
        bare(
            "openai service account",
            "sk-svcacct-" + fake(URL64, 74, "o") + middle + fake(URL64, 74, "p"),
        ),
        bare("openai admin", "sk-admin-" + fake(URL64, 58, "o") + middle + fake(URL64, 58, "p")),
        bare("openai without the middle", "sk-" + fake(WORD, 48, "o")),
        bare("openai session", "sess-" + fake(WORD, 40, "o")),
        bare("anthropic", "sk-ant-api03-" + fake(URL64, 93, "a") + "AA"),
        bare("anthropic admin", "sk-ant-admin01-" + fake(URL64, 93, "a") + "AA"),
        bare("anthropic oauth", "sk-ant-oat01-" + fake(URL64, 93, "a") + "AA"),
        bare("openrouter", "sk-or-v1-" + fake(HEX, 64, "or")),
        bare("deepseek", "sk-" + fake(HEX, 32, "ds")),
        bare("hugging face", "hf_" + fake(LETTERS, 34, "hf")),
        bare("hugging face organisation", "api_org_" + fake(LETTERS, 34, "hf")),
        bare("groq", "gsk_" + fake(WORD, 52, "groq")),
        bare("replicate", "r8_" + fake(WORD, 37, "r8")),
        bare("xai", "xai-" + fake(WORD, 80, "xai")),
        bare("perplexity", "pplx-" + fake(WORD, 48, "pplx")),
        bare("nvidia", "nvapi-" + fake(URL64, 64, "nv")),
        bare("fireworks", "fw_" + fake(WORD, 24, "fw")),
        bare("langsmith", "lsv2_pt_" + fake(HEX, 32, "ls") + "_" + fake(HEX, 10, "ls")),
        bare("langfuse", "sk-lf-" + fake_uuid("lf")),
        bare("tavily", "tvly-" + fake(WORD, 32, "tvly")),
        bare("voyage", "pa-" + fake(URL64, 43, "voyage")),
        bare("pinecone", "pcsk_" + fake(WORD, 5, "pc") + "_" + fake(WORD, 63, "pc")),
        bare("cerebras", "csk-" + fake(LOWER, 48, "csk")),
        within("cohere", "CO_API_KEY=@@", fake(WORD, 40, "co")),
        within("mistral", "MISTRAL_API_KEY=@@", fake(WORD, 32, "mi")),
        within("together", "TOGETHER_API_KEY=@@", fake(HEX, 64, "to")),
        within("elevenlabs", "xi-api-key: @@", fake(HEX, 32, "xi")),
        within("wandb", "wandb login @@ # WANDB_API_KEY=@@", fake(HEX, 40, "wb")),
        bare("eleven new", "sk_" + fake(HEX, 48, "xi")),
    ]


def _operations() -> list[Case]:
    sentry = "https://" + fake(HEX, 32, "se") + ":" + fake(HEX, 32, "sf") + "@o1.ingest.sentry.io/4"
    return [
        within("datadog api", "DD_API_KEY=@@", fake(HEX, 32, "dd")),
        within("datadog app", "DD-APPLICATION-KEY: @@", fake(HEX, 40, "dd")),
        bare("new relic user", "NRAK-" + fake(UPPER, 27, "nr")),
        bare("new relic browser", "NRJS-" + fake(HEX, 19, "nr")),
        bare("new relic insert", "NRII-" + fake(URL64, 32, "nr")),
        within("new relic licence", "NEW_RELIC_LICENSE_KEY=@@", fake(HEX, 36, "nr") + "NRAL"),
        bare("sentry user", "sntryu_" + fake(HEX, 64, "se")),
        bare(
            "sentry organisation",
            "sntrys_eyJ" + fake(WORD, 140, "se") + "=_" + fake(BASE64, 43, "se"),
        ),
        ("sentry dsn with secret", f"dsn: {sentry}", fake(HEX, 32, "sf")),
        within("pagerduty", "Authorization: Token token=@@", "y_" + fake(URL64, 18, "pd")),
        bare("grafana service account", "glsa_" + fake(WORD, 32, "gr") + "_" + fake(HEX, 8, "gr")),
        bare("grafana cloud", "glc_eyJ" + fake(WORD, 120, "gr") + "="),
        bare("vault service", "hvs." + fake(URL64, 90, "v")),
        bare("vault batch", "hvb." + fake(URL64, 140, "v")),
        within("vault old", "X-Vault-Token: @@", "s." + fake(WORD, 24, "v")),
        bare("terraform cloud", fake(WORD, 14, "tf") + ".atlasv1." + fake(WORD, 67, "tf")),
        bare("pulumi", "pul-" + fake(HEX, 40, "pul")),
        bare("databricks", "dapi" + fake(HEX, 32, "db")),
        within(
            "snowflake",
            'snowflake.connector.connect(user="u", password="@@")',
            fake(WORD + "#!", 16, "sn"),
        ),
        bare("supabase service", "sbp_" + fake(HEX, 40, "sb")),
        bare("supabase secret", "sb_secret_" + fake(URL64, 31, "sb")),
        bare("planetscale password", "pscale_pw_" + fake(URL64, 43, "ps")),
        bare("planetscale token", "pscale_tkn_" + fake(URL64, 43, "ps")),
        bare("linear", "lin_api_" + fake(WORD, 40, "lin")),
        bare("notion", "secret_" + fake(WORD, 43, "no")),
        bare("notion new", "ntn_" + fake(DIGITS, 11, "no") + fake(WORD, 35, "no")),
        bare("airtable pat", "pat" + fake(WORD, 14, "ai") + "." + fake(HEX, 64, "ai")),
        bare("figma", "figd_" + fake(URL64, 40, "fi")),
        bare("postman", "PMAK-" + fake(HEX, 24, "pm") + "-" + fake(HEX, 34, "pm")),
        within("algolia admin", "X-Algolia-API-Key: @@", fake(HEX, 32, "al")),
        bare("mapbox secret", "sk.eyJ" + fake(WORD, 80, "mb") + "." + fake(URL64, 22, "mb")),
        bare("doppler", "dp.pt." + fake(WORD, 43, "dp")),
        bare("1password service account", "ops_eyJ" + fake(WORD, 300, "op")),
        bare("tailscale", "tskey-auth-" + fake(WORD, 12, "ts") + "CNTRL-" + fake(WORD, 32, "ts")),
        bare("dynatrace", "dt0c01." + fake(UPPER, 24, "dt") + "." + fake(UPPER, 64, "dt")),
        bare("honeycomb", "hcaik_" + fake(LOWER, 58, "hc")),
        bare("typeform", "tfp_" + fake(URL64, 59, "tf")),
        bare("contentful", "CFPAT-" + fake(URL64, 43, "cf")),
        bare("hubspot", "pat-na1-" + fake_uuid("hub")),
        bare("asana", "1/" + fake(DIGITS, 16, "as") + ":" + fake(HEX, 32, "as")),
        bare("age secret key", "AGE-SECRET-KEY-1" + fake(BECH32.upper(), 58, "age")),
        bare("easypost", "EZAK" + fake(WORD, 54, "ez")),
        bare("duffel", "duffel_live_" + fake(URL64, 43, "du")),
        bare("readme", "rdme_" + fake(LOWER, 70, "rd")),
        bare("prefect", "pnu_" + fake(LOWER, 36, "pn")),
        bare("shippo", "shippo_live_" + fake(HEX, 40, "sh")),
        bare("launchdarkly", "sdk-" + fake_uuid("ld")),
        bare("posthog personal", "phx_" + fake(WORD, 43, "ph")),
        bare("infracost", "ico-" + fake(WORD, 32, "ico")),
        within("loggly", "https://logs-01.loggly.com/inputs/@@/tag/http", fake_uuid("loggly")),
        within(
            "sidekiq",
            "BUNDLE_ENTERPRISE__CONTRIBSYS__COM=@@",
            fake(HEX, 8, "a") + ":" + fake(HEX, 8, "b"),
        ),
        bare("intra42", "s-s4t2ud-" + fake(HEX, 64, "42")),
        bare("gocardless", "live_" + fake(URL64, 40, "gc")),
        within("vault secret id", "secret_id=@@", fake_uuid("vault")),
        bare("neon", "napi_" + fake(LOWER, 64, "neon")),
    ]


STRUCTURED: tuple[Case, ...] = (
    *_clouds(),
    *_forges_and_registries(),
    *_messages_and_money(),
    *_models(),
    *_operations(),
    *KEYS_AND_ADDRESSES,
)
