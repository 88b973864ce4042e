"""Rules for official token formats of model servers, chat, payment, mail and other services."""

from __future__ import annotations

import re

from ollm_tui.services.redaction.rule import (
    LEFT,
    RIGHT,
    Rule,
    Span,
    compiled,
    token,
    token_around,
    whole,
    words,
)

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_DISCORD = r"[A-Za-z0-9_\-]{22,28}\.[A-Za-z0-9_\-]{6}\."
_MADE = r"(?=[A-Za-z]{0,60}[0-9])(?=[0-9a-f_]{0,60}[A-Zg-z])[A-Za-z0-9]{20,200}+"
"""A long run with a digit and a letter that no hexadecimal checksum has."""
_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
_DIGITS_AND_CASES = r"[A-Za-z]{0,40}[0-9][0-9A-Z]{0,40}[a-z]"
_RANDOM_PART = r"(?=[A-Za-z]*[0-9]|[a-z]+[A-Z])[A-Za-z0-9]{16,}"
_SWITCH = r"[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z]"


def _random(match: re.Match[str]) -> Span | None:
    """The match if a part of it is no word: names of styles begin with sk- too."""
    text = match[0]
    if compiled(_RANDOM_PART).search(text) or len(compiled(_SWITCH).findall(text)) > 4:
        return whole(match)
    return None


def _with_digits(match: re.Match[str]) -> Span | None:
    """The match if it has digits: names of modules have the same shape, but hardly a digit."""
    return whole(match) if len(compiled("[0-9]").findall(match[0])) > 1 else None


def _numbered(kind: str, first: str, number: str, body: str) -> Rule:
    """A rule for tokens that begin with a number: its `first` digits, the others, and the body."""
    rule = token(kind, " ".join(first), f"[{first}]{number}{body}")
    return rule._replace(opening=number)


SERVICE_TOKENS: tuple[Rule, ...] = (
    # Model servers
    token("anthropic", "sk-ant-", r"sk-ant-[A-Za-z0-9_\-]{20,300}+"),
    token("openrouter", "sk-or-", r"sk-or-[A-Za-z0-9_\-]{20,100}+"),
    token("langfuse", "sk-lf-", rf"sk-lf-{_UUID}"),
    Rule("openai", ("sk-",), f"{LEFT}sk-[A-Za-z0-9_\\-]{{16,300}}+", _random, begins_word=True),
    token("openai", "sess-", r"sess-(?=[A-Za-z]{0,39}[0-9])[A-Za-z0-9]{40}"),
    token("groq", "gsk_", r"gsk_[A-Za-z0-9]{40,60}+"),
    token("elevenlabs", "sk_", r"sk_[a-f0-9]{48}"),
    token("huggingface", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,60}+"),
    token("replicate", "r8_", r"r8_[A-Za-z0-9]{37}"),
    token("perplexity", "pplx-", r"pplx-[A-Za-z0-9]{40,60}+"),
    token("xai", "xai-", r"xai-[A-Za-z0-9]{60,100}+"),
    token("together", "tgp_v1_", r"tgp_v1_[A-Za-z0-9_\-]{36,60}+"),
    token("cerebras", "csk-", r"csk-[a-z0-9]{40,60}+"),
    token("nvidia", "nvapi-", r"nvapi-[A-Za-z0-9_\-]{50,90}+"),
    token("langsmith", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    token("pinecone", "pcsk_", r"pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,80}+"),
    token("wandb", "wandb_v1_", r"wandb_v1_[A-Za-z0-9_\-]{40,100}+"),
    token("jina", "jina_", r"jina_[A-Za-z0-9_\-]{32,80}+"),
    token("tavily", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,60}+"),
    token("firecrawl", "fc-", r"fc-[a-f0-9]{32}"),
    token("e2b", "e2b_", r"e2b_[a-f0-9]{40}"),
    token("apify", "apify_api_", r"apify_api_[A-Za-z0-9]{30,50}+"),
    token("langsmith", "ls__", r"ls__[a-f0-9]{32}"),
    token("fireworks", "fw_", rf"fw_{_MADE}"),
    token("modal", "ak- as-", rf"a[ks]-{_MADE}"),
    token("runpod", "rpa_", r"rpa_[A-Za-z0-9]{40,50}+"),
    token("voyage", "pa-", r"pa-(?=[A-Za-z_\-]{0,40}[0-9])[A-Za-z0-9_\-]{43}"),
    # Chat and social
    token("slack", "xwfp-", r"xwfp-[0-9]{8,15}-[A-Za-z0-9\-]{20,100}+"),
    token_around(
        "zapier",
        "hooks.zapier.com/",
        r"hooks\.zapier\.com/hooks/catch/(?P<secret>[0-9]{4,12}/[a-z0-9]{5,12})",
    ),
    token(
        "slack", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc-", r"xox[bparsoc]-[A-Za-z0-9\-]{10,250}+"
    ),
    token("slack", "xoxd-", r"xoxd-[A-Za-z0-9%/+=\-]{20,400}+"),
    token("slack", "xoxe", r"xoxe(?:\.xox[bp])?-[0-9]-[A-Za-z0-9\-]{20,250}+"),
    token("slack", "xapp-", r"xapp-[0-9]-[A-Za-z0-9]{8,15}-[0-9]{8,15}-[A-Za-z0-9]{20,100}+"),
    token(
        "slack",
        "hooks.slack.com/ https://hooks.slack.com/",
        r"(?:https://)?hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,90}+",
    ),
    _numbered("telegram", "123456789", "[0-9]{7,9}:AA", r"[A-Za-z0-9_\-]{32,34}"),
    token_around("telegram", "/bot", r"/bot(?P<secret>[0-9]{8,10}:AA[A-Za-z0-9_\-]{32,34})"),
    token_around("telegram", ":AA", r"(?<=[0-9]{8}):(?P<secret>AA[A-Za-z0-9_\-]{32,34})"),
    Rule(
        "discord",
        ("M", "N", "O"),
        rf"{LEFT}[MNO]{_DISCORD}[A-Za-z0-9_\-]{{27,38}}+{RIGHT}",
        _with_digits,
        begins_word=True,
        opening=_DISCORD,
    ),
    token(
        "discord",
        "https://discord.com/api/webhooks/ https://discordapp.com/api/webhooks/",
        r"https://discord(?:app)?\.com/api/webhooks/[0-9]{15,21}/[A-Za-z0-9_\-]{60,80}+",
    ),
    token_around(
        "teams",
        ".webhook.office.com/",
        rf"\.webhook\.office\.com/(?P<secret>webhookb2/{_UUID}@[A-Za-z0-9/\-]{{36,200}}+)",
    ),
    token("facebook", "EAA", r"EAA[A-Za-z0-9]{80,400}+"),
    _numbered("facebook", "123456789", r"[0-9]{14,15}(?:\||%7C)", r"[A-Za-z0-9_\-]{27,40}+"),
    token("instagram", "IGQV IGQW IGAA", r"IG(?:Q[VW]|AA)[A-Za-z0-9_\-]{80,400}+"),
    token("discord", "mfa.", r"mfa\.[A-Za-z0-9_\-]{80,100}+"),
    token("twitter", "AAAAAAAAAAAAAAAAAAAAA", r"A{21,30}(?!A)[A-Za-z0-9%]{40,120}+"),
    token("twitch", "oauth:", r"oauth:(?P<secret>[a-z0-9]{30})"),
    # Payment and trade
    token(
        "stripe",
        "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_live_ sk_org_test_",
        r"[sr]k_(?:org_)?(?:live|test|prod)_[A-Za-z0-9]{10,200}+",
    ),
    token("webhook", "whsec_", r"whsec_[A-Za-z0-9+/]{24,100}+={0,2}"),
    token("square", "sq0atp- sq0csp- sq0idp-", r"sq0[a-z]{3}-[A-Za-z0-9_\-]{22,50}+"),
    token("square", "EAAA", r"EAAA[A-Za-z0-9+=_\-]{56,70}+"),
    token(
        "braintree",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    ),
    token(
        "shopify", "shpat_ shpca_ shppa_ shpss_ shpua_", r"shp(?:at|ca|pa|ss|ua)_[A-Fa-f0-9]{32}"
    ),
    token(
        "plaid",
        "access-sandbox- access-development- access-production-",
        rf"access-(?:sandbox|development|production)-{_UUID}",
    ),
    token("flutterwave", "FLWSECK", r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}-X"),
    token("lob", "live_ test_", r"(?:live|test)_(?:pub_)?[a-f0-9]{35}"),
    token("gocardless", "live_", r"live_(?=[A-Za-z_\-]{0,39}[0-9])[A-Za-z0-9_=\-]{40}"),
    token("mollie", "live_ test_", r"(?:live|test)_[A-Za-z0-9]{30}"),
    token("settlemint", "sm_aat_ sm_pat_ sm_sat_", r"sm_[aps]at_[A-Za-z0-9]{16}"),
    token("razorpay", "rzp_live_ rzp_test_", r"rzp_(?:live|test)_[A-Za-z0-9]{14,24}+"),
    token("easypost", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    token("shippo", "shippo_live_ shippo_test_", r"shippo_(?:live|test)_[a-f0-9]{40}"),
    token("duffel", "duffel_live_ duffel_test_", r"duffel_(?:live|test)_[A-Za-z0-9_=\-]{43}"),
    token("paddle", "pdl_live_ pdl_sdbx_", r"pdl_(?:live|sdbx)_apikey_[A-Za-z0-9_]{30,80}+"),
    token("polar", "polar_", r"polar_(?:oat|pat|at|rt)_[A-Za-z0-9_]{30,60}+"),
    # Mail and messages
    token("mailersend", "mlsn.", r"mlsn\.[a-f0-9]{64}"),
    token("sendgrid", "SG.", r"SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{16,64}+"),
    token("twilio", "SK", r"SK[0-9a-f]{32}"),
    token("mailgun", "key-", r"key-[0-9a-f]{32}"),
    _numbered("mailgun", "0123456789abcdef", "[0-9a-f]{31}-[0-9a-f]{8}-", "[0-9a-f]{8}"),
    token("mandrill", "md-", r"md-(?=[A-Za-z]{0,21}[0-9])(?=[a-z0-9]{0,21}[A-Z])[A-Za-z0-9]{22}"),
    token_around("mailchimp", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}", back=32),
    token("brevo", "xkeysib- xsmtpsib-", r"x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("resend", "re_", r"re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,30}+"),
    token("intercom", "dG9rO", r"dG9rO[A-Za-z0-9+/]{50,80}+={0,2}"),
    # Work and web
    token("linear", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}+"),
    token("notion", "ntn_", r"ntn_[A-Za-z0-9]{40,60}+"),
    token("notion", "secret_", r"secret_(?=[A-Za-z]{0,42}[0-9])[A-Za-z0-9]{43}"),
    token("figma", "figd_", r"figd_[A-Za-z0-9_\-]{38,50}+"),
    token("asana", "1/ 2/", r"[12]/[0-9]{12,18}(?:/[0-9]{12,18})?:[a-f0-9]{32}"),
    token("clickup", "pk_", r"pk_[0-9]{6,10}_[A-Z0-9]{32}"),
    token("postman", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    token("hubspot", "pat-na pat-eu pat-ap", rf"pat-(?:na|eu|ap)[0-9]-{_UUID}"),
    token("segment", "sgp_", r"sgp_[A-Za-z0-9]{64}"),
    token("zoho", "1000.", r"1000\.[a-f0-9]{32}\.[a-f0-9]{32}"),
    token("salesforce", "00D", r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9_.]{60,200}+"),
    token("linkedin", "WPL_AP", r"WPL_AP[0-9]\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/]{6}={0,2}"),
    token("contentful", "CFPAT-", r"CFPAT-[A-Za-z0-9_\-]{40,50}+"),
    token("dropbox", "sl.", r"sl\.(?:u\.)?[A-Za-z0-9_\-]{120,1500}+"),
    token("mapbox", "sk.eyJ", r"sk\.eyJ[A-Za-z0-9_\-]{40,200}\.[A-Za-z0-9_\-]{20,30}+"),
    token("posthog", "phx_ phs_", r"ph[xs]_[A-Za-z0-9]{40,60}+"),
    token("launchdarkly", "sdk- api-", rf"(?:sdk|api)-{_UUID}"),
    token_around(
        "sidekiq", "CONTRIBSYS__COM=", r"CONTRIBSYS__COM=(?P<secret>[a-f0-9]{8}:[a-f0-9]{8})"
    ),
    token_around("loggly", "loggly.com/", rf"loggly\.com/(?:inputs|bulk)/(?P<secret>{_UUID})"),
    token("intra42", "s-s4t2", r"s-s4t2(?:ud|af)-[a-f0-9]{64}"),
    token(
        "authress",
        "sc_ ext_ scauth_ authress_",
        r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}"
        r"\.[A-Za-z0-9+/_=\-]{30,120}+",
    ),
    token("adafruit", "aio_", r"aio_[A-Za-z]{4}[0-9]{2}[A-Za-z0-9]{22}"),
    token("adobe", "p8e-", r"p8e-[A-Za-z0-9]{32}"),
    token("frameio", "fio-u-", r"fio-u-[A-Za-z0-9_=\-]{64}"),
    token("typeform", "tfp_", r"tfp_[A-Za-z0-9_.=\-]{40,64}+"),
    token("readme", "rdme_", r"rdme_[a-z0-9]{70}"),
    token("inngest", "signkey-", r"signkey-[a-z]{2,10}-[a-f0-9]{64}"),
    token("telnyx", "KEY0", r"KEY0[0-9A-F]{31}_[A-Za-z0-9]{22}"),
    token_around("maxmind", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", back=36),
    token("ubidots", "BBFF-", r"BBFF-[A-Za-z0-9]{30}"),
    token("stytch", "secret-live- secret-test-", r"secret-(?:live|test)-[A-Za-z0-9_=\-]{36}"),
    token("ory", "ory_", r"ory_(?:pat|at|rt|wak|apikey)_[A-Za-z0-9_.\-]{20,100}+"),
    token("trigger", "tr_dev_ tr_prod_ tr_stg_", rf"tr_(?:dev|prod|stg)_{_MADE}"),
    token("zuplo", "zpka_", r"zpka_[a-f0-9]{32}_[a-f0-9]{8}"),
    token("wallet", "xprv yprv zprv", r"[xyz]prv[A-Za-z0-9]{100,112}+"),
    token("wallet", "5H 5J 5K", rf"5[HJK](?={_DIGITS_AND_CASES}){_BASE58}{{49}}"),
    token("wallet", "K L", rf"[KL](?={_DIGITS_AND_CASES}){_BASE58}{{51}}")._replace(
        opening=rf"{_BASE58}{{51}}"
    ),
    token("nostr", "nsec1 ncryptsec1", r"n(?:crypt)?sec1[02-9ac-hj-np-z]{58,180}+"),
    # Any other service: it is customary to join its name, the kind of key, and random letters.
    *(
        token_around("token", f"_{kind}_", rf"(?<=[A-Za-z0-9])(?<!pk)_{kind}_(?P<secret>{_MADE})")
        for kind in words("live prod pat oat sat sk secret apikey api tok token rw")
    ),
)
