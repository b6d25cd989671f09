"""Credentials of cloud providers and of infrastructure services."""

from __future__ import annotations

from truepenny.text.rule import ALNUM, Rule

from .example import digest, upper, word

_B = r"(?<![A-Za-z0-9])"
_E = r"(?![A-Za-z0-9])"

RULES = (
    Rule(
        "aws-access-key-id",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        rf"{_B}A[KSBC]IA[A-Z0-9]{{16}}{_E}|{_B}ACCA[A-Z0-9]{{16}}{_E}",
        ("id AKIA" + upper(16), "ASIA" + upper(16) + "/20260101/eu-west-1"),
        ("AKIAshort", "MAKIA" + upper(16), "AKIA" + upper(40)),
    ),
    Rule(
        "aws-signature",
        ("X-Amz-Signature=", "X-Amz-Security-Token=", "X-Goog-Signature="),
        r"X-(?:Amz-Signature|Amz-Security-Token|Goog-Signature)=(?P<secret>[A-Za-z0-9%/+=_.-]{16,})",
        ("https://b.s3.example/o?X-Amz-Expires=60&X-Amz-Signature=" + digest(64),),
        ("X-Amz-Signature=<signature>",),
    ),
    Rule(
        "gcp-api-key",
        ("AIza",),
        rf"{_B}AIza[A-Za-z0-9_-]{{35}}(?![A-Za-z0-9_-])",
        ("AIza" + word(35),),
        ("AIza" + word(10),),
    ),
    Rule(
        "gcp-oauth-token",
        ("ya29.", "GOCSPX-"),
        rf"{_B}(?:ya29\.[A-Za-z0-9_-]{{20,}}|GOCSPX-[A-Za-z0-9_-]{{20,}})",
        ("ya29." + word(60), "GOCSPX-" + word(28)),
        ("ya29.x",),
    ),
    Rule(
        "azure-sas",
        ("sig=",),
        r"(?<=[?&])sig=(?P<secret>[A-Za-z0-9%/+=_-]{40,})",
        ("https://a.blob.example/c?sv=2024-01-01&sig=" + word(43) + "%3D",),
        ("?sig=short", "design=" + word(44)),
    ),
    Rule(
        "azure-client-secret",
        ("8Q~",),
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])",
        ("id=1 abc8Q~" + word(34),),
        ("8Q~" + word(5),),
        back=ALNUM + "_~.-",
    ),
    Rule(
        "digitalocean-token",
        ("dop_v1_", "doo_v1_", "dor_v1_"),
        rf"{_B}do[opr]_v1_[a-f0-9]{{64}}{_E}",
        ("dop_v1_" + digest(64),),
        ("dop_v1_" + digest(20),),
    ),
    Rule(
        "alibaba-key-id",
        ("LTAI",),
        rf"{_B}LTAI[A-Za-z0-9]{{17,21}}{_E}",
        ("LTAI" + word(20),),
        ("LTAI" + word(4),),
    ),
    Rule(
        "vault-token",
        ("hvs.", "hvb.", "hvr."),
        rf"{_B}hv[sbr]\.[A-Za-z0-9_-]{{24,}}",
        ("hvs." + word(90),),
        ("hvs.short",),
    ),
    Rule(
        "terraform-cloud-token",
        (".atlasv1.",),
        rf"{_B}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,}}",
        (word(14) + ".atlasv1." + word(67),),
        ("x.atlasv1.y",),
        back=ALNUM,
    ),
    Rule(
        "doppler-token",
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa."),
        rf"{_B}dp\.(?:pt|st|ct|sa)\.(?:[a-z0-9_-]{{2,35}}\.)?[A-Za-z0-9]{{40,44}}{_E}",
        ("dp.pt." + word(43),),
        ("dp.pt.x",),
    ),
    Rule(
        "pulumi-token",
        ("pul-",),
        rf"{_B}pul-[a-f0-9]{{40}}{_E}",
        ("pul-" + digest(40),),
        ("pul-request",),
    ),
    Rule(
        "databricks-token",
        ("dapi",),
        rf"{_B}dapi[a-f0-9]{{32}}(?:-\d)?{_E}",
        ("dapi" + digest(32),),
        ("dapiserver",),
    ),
    Rule(
        "planetscale-secret",
        ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
        rf"{_B}pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{{32,}}",
        ("pscale_pw_" + word(43),),
        ("pscale_pw_x",),
    ),
    Rule(
        "tailscale-key",
        ("tskey-",),
        rf"{_B}tskey-(?:[a-z]+-)?[A-Za-z0-9]{{6,}}-[A-Za-z0-9_]{{16,}}",
        ("tskey-auth-" + word(12) + "-" + word(32),),
        ("tskey-name",),
    ),
    Rule(
        "fly-token",
        ("fm1r_", "fm2_", "fo1_"),
        rf"{_B}(?:fm1r_|fm2_|fo1_)[A-Za-z0-9_+/=-]{{40,}}",
        ("FlyV1 fm2_" + word(80),),
        ("fm2_x",),
    ),
    Rule(
        "supabase-key",
        ("sbp_", "sb_secret_"),
        rf"{_B}(?:sbp_[a-f0-9]{{40}}|sb_secret_[A-Za-z0-9_-]{{20,}}){_E}",
        ("sbp_" + digest(40),),
        ("sbp_x",),
    ),
)
