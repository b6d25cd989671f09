"""Tokens of payment, mail, chat, monitoring and other hosted services."""

from __future__ import annotations

from truepenny.text.rule import ALNUM, Rule

from .example import digest, upper, word

_B = r"(?<![A-Za-z0-9])"
_E = r"(?![A-Za-z0-9])"

RULES = (
    Rule(
        "slack-token",
        ("xoxa-", "xoxb-", "xoxe.", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        rf"{_B}(?:xox[abeoprs][-.]|xapp-)[A-Za-z0-9.-]{{16,}}",
        ("xoxb-123456789012-" + word(24), "xapp-1-" + upper(11) + "-" + digest(64)),
        ("xoxb-x",),
    ),
    Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{16,})",
        ("https://hooks.slack.com/services/T" + upper(8) + "/B" + upper(8) + "/" + word(24),),
        ("https://hooks.slack.com/services/",),
    ),
    Rule(
        "discord-webhook",
        ("/api/webhooks/",),
        r"/api/webhooks/(?P<secret>\d{15,22}/[A-Za-z0-9_-]{40,})",
        ("https://discord.com/api/webhooks/123456789012345678/" + word(68),),
        ("/api/webhooks/list",),
    ),
    Rule(
        "teams-webhook",
        ("webhook.office.com/",),
        r"webhook\.office\.com/(?P<secret>[A-Za-z0-9/@_-]{32,})",
        ("https://o.webhook.office.com/webhookb2/" + digest(36) + "/IncomingWebhook/" + word(32),),
        ("webhook.office.com/help",),
    ),
    Rule(
        "telegram-bot-token",
        (":AA",),
        rf"{_B}\d{{8,10}}:AA[A-Za-z0-9_-]{{33}}(?![A-Za-z0-9_-])",
        ("123456789:AA" + word(33),),
        ("12:AA:BB:CC:DD:EE", "123456789:AAx"),
        back=ALNUM,
    ),
    Rule(
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
        rf"{_B}(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9+/=]{{16,}}",
        ("sk_live_" + word(24), "whsec_" + word(32)),
        ("sk_test_mode", "task_live_" + word(24)),
    ),
    Rule(
        "square-token",
        ("sq0atp-", "sq0csp-"),
        rf"{_B}sq0(?:atp|csp)-[A-Za-z0-9_-]{{22,}}",
        ("sq0atp-" + word(22),),
        ("sq0atp-x",),
    ),
    Rule(
        "shopify-token",
        ("shpat_", "shpss_", "shpca_", "shppa_"),
        rf"{_B}shp(?:at|ss|ca|pa)_[a-fA-F0-9]{{32}}{_E}",
        ("shpat_" + digest(32),),
        ("shpat_x",),
    ),
    Rule(
        "sendgrid-key",
        ("SG.",),
        rf"{_B}SG\.[A-Za-z0-9_-]{{16,32}}\.[A-Za-z0-9_-]{{32,64}}",
        ("SG." + word(22) + "." + word(43),),
        ("SG.example.com",),
    ),
    Rule(
        "mailgun-key",
        ("key-",),
        rf"{_B}key-[a-f0-9]{{32}}{_E}",
        ("key-" + digest(32),),
        ("key-value", "monkey-" + digest(32)),
    ),
    Rule(
        "mailchimp-key",
        ("-us",),
        r"(?<![A-Za-z0-9-])[a-f0-9]{32}-us\d{1,2}(?![A-Za-z0-9])",
        (digest(32) + "-us12",),
        ("eu-us1", digest(8) + "-us1"),
        back=ALNUM,
    ),
    Rule(
        "twilio-key",
        ("SK",),
        rf"{_B}SK[a-f0-9]{{32}}{_E}",
        ("SK" + digest(32),),
        ("SK" + digest(8), "TASK" + digest(32)),
    ),
    Rule(
        "newrelic-key",
        ("NRAK-", "NRII-", "NRJS-"),
        rf"{_B}NR(?:AK|II|JS)-[A-Za-z0-9_-]{{19,}}",
        ("NRAK-" + upper(27),),
        ("NRAK-x",),
    ),
    Rule(
        "grafana-token",
        ("glsa_", "glc_"),
        rf"{_B}(?:glsa_[A-Za-z0-9]{{32}}_[a-f0-9]{{8}}|glc_[A-Za-z0-9+/=]{{32,}})",
        ("glsa_" + word(32) + "_" + digest(8), "glc_" + word(100)),
        ("glc_x",),
    ),
    Rule(
        "notion-token",
        ("ntn_", "secret_"),
        rf"{_B}(?:ntn_[A-Za-z0-9]{{40,}}|secret_[A-Za-z0-9]{{43}}){_E}",
        ("ntn_" + word(46), "secret_" + word(43)),
        ("secret_name_of_the_volume_in_the_pod_template",),
    ),
    Rule(
        "figma-token",
        ("figd_",),
        rf"{_B}figd_[A-Za-z0-9_-]{{36,}}",
        ("figd_" + word(40),),
        ("figd_x",),
    ),
    Rule(
        "one-password-token",
        ("ops_eyJ",),
        rf"{_B}ops_eyJ[A-Za-z0-9_=-]{{60,}}",
        ("ops_eyJ" + word(250),),
        ("ops_eyJx",),
    ),
)
