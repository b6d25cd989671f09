"""Keys of model providers and of services around them."""

from __future__ import annotations

from truepenny.text.rule import Rule

from .example import digest, letters, word

_B = r"(?<![A-Za-z0-9])"
_E = r"(?![A-Za-z0-9])"

RULES = (
    Rule(
        "anthropic-key",
        ("sk-ant-",),
        rf"{_B}sk-ant-[A-Za-z0-9_-]{{20,}}",
        ("sk-ant-api03-" + word(95),),
        ("sk-ant-x",),
    ),
    Rule(
        "sk-key",
        ("sk-",),
        # The form of OpenAI, DeepSeek, OpenRouter and many more. A digit keeps out words such as
        # `sk-learn-something-quite-long`.
        rf"{_B}sk-(?!ant-)(?=[A-Za-z_-]{{0,120}}\d)[A-Za-z0-9_-]{{20,}}",
        ("sk-proj-" + word(48), "sk-" + word(48), "sk-or-v1-" + digest(64)),
        ("task-" + word(30), "sk-SK", "risk-assessment-of-the-whole-thing"),
    ),
    Rule(
        "huggingface-token",
        ("hf_", "api_org_"),
        rf"{_B}(?:hf_|api_org_)[A-Za-z]{{34}}{_E}",
        ("hf_" + letters(34),),
        ("hf_hub_download", "hf_home"),
    ),
    Rule(
        "groq-key",
        ("gsk_",),
        rf"{_B}gsk_[A-Za-z0-9]{{40,}}",
        ("gsk_" + word(52),),
        ("gsk_x",),
    ),
    Rule(
        "xai-key",
        ("xai-",),
        rf"{_B}xai-[A-Za-z0-9]{{60,}}",
        ("xai-" + word(80),),
        ("xai-grok",),
    ),
    Rule(
        "perplexity-key",
        ("pplx-",),
        rf"{_B}pplx-[A-Za-z0-9]{{32,}}",
        ("pplx-" + word(48),),
        ("pplx-small",),
    ),
    Rule(
        "replicate-token",
        ("r8_",),
        rf"{_B}r8_[A-Za-z0-9]{{37}}{_E}",
        ("r8_" + word(37),),
        ("r8_x",),
    ),
    Rule(
        "nvidia-key",
        ("nvapi-",),
        rf"{_B}nvapi-[A-Za-z0-9_-]{{40,}}",
        ("nvapi-" + word(64),),
        ("nvapi-x",),
    ),
    Rule(
        "langsmith-key",
        ("lsv2_pt_", "lsv2_sk_"),
        rf"{_B}lsv2_(?:pt|sk)_[a-f0-9]{{32}}_[a-f0-9]{{10}}{_E}",
        ("lsv2_pt_" + digest(32) + "_" + digest(10),),
        ("lsv2_pt_x",),
    ),
)
