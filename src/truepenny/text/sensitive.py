"""Decide from a name whether its value is a secret, and from a value whether it can be one.

Sources: spec/diagnostics.md 4 for the name patterns; the exceptions are names that Kubernetes,
common APIs and source code use beside values that are no secrets.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from enum import IntEnum


class Strength(IntEnum):
    """How sure a key name is."""

    NONE = 0
    WEAK = 1
    """The value must look random as well (`tokens`, `auth`)."""
    NORMAL = 2
    """Any value in a configuration; in prose it must look random (`token: expired`)."""
    STRONG = 3
    """Any value at all (`password`)."""


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS = re.compile(r"[-./:\s]+")
_COUNTER = re.compile(r"_?\d+$")
"""The second of two (`SMTP_PASS_2`) is as secret as the first."""

_STRONG = re.compile(
    r"password|passwd|passphrase|passcode|pwd(?:_|$)|_pass$|(?:^|_)pw$|_psk$|^psk$"
)
_NORMAL = re.compile(
    r"secret|token|credential|api_?key|private_?key|access_?key|account_?key|signing_?key"
    r"|encryption_?key|master_?key|service_key|auth_key|authorization$|(?:^|_)jwt(?:_|$)|key_?data$"
    r"|dockercfg|docker_?config_?json|connection_?string|(?:^|_)cookie$|(?:^|_)session_?id$"
    r"|^sessid$|(?:^|_)bearer$|webhook_url$|^pass$"
)
# Plural names mostly count or list something; other keys mostly index something.
_WEAK = re.compile(r"(?:^|_)auth$|(?:tokens|secrets|cookies)$|_key$")

_SURE_KEY = re.compile(
    r"(?:api|private|access|account|signing|encryption|master|service|auth|secret)_?key$"
)
_BENIGN_END = re.compile(
    r"(?:^|_)(?:names?|refs?|paths?|files?|filename|dir|directory|mount|volume|types?|kind|counts?"
    r"|size|length|len|limits?|ttl|seconds|minutes|expir(?:y|es|ed|ation)|expires_(?:in|at)"
    r"|version|issuer|audience|policy|mode|enabled|required|provider|class|namespace|age|created"
    r"|updated|hint|format|algorithm|status|state|index|budget|usage|used|url|uri|endpoint"
    r"|review|reviewer|controller|manager|store|lister|informer|changed|rotated|source|env|field"
    r"|plugin|header|prefix|suffix|param|parameter|pattern|regex|rules?|labels?|annotations?"
    r"|selector|start|end|begin|separator|scopes?|duration|domain|template|schema|column|error"
    r"|errors|message|reason)$"
)
_BENIGN = re.compile(
    r"(?:public|primary|foreign|partition|sort|routing|cache|lookup|group|row|object|unique|join"
    r"|translation|message|composite|shard|hash|idempotency|dedup(?:e|lication)?|ordering|sorted"
    r"|topology|label|annotation|config_?map|node|record|map|dict|hot|arrow|enter|storage|registry"
    r"|event|metric|tag|index|s3_object|image_pull_secret)_keys?$"
    r"|key_id$|token_id$|client_id$|image_pull_secrets?$|mountable_secrets$|secret_key_ref$"
    r"|(?:max|min|prompt|completion|input|output|total|cached?|reasoning|num|n|new|used|context"
    r"|budget)_tokens?$|tokens_(?:per|used|left|total|in|out)"
    r"|(?:page|continuation|continue|next|sync|cancel|cancellation|cursor|resume|eos|bos|pad"
    r"|unk|sep|stop|special|csrf_?)_tokens?$|automount_service_account_token$|tokenizer"
    r"|^secret_?type$|access_key_id$"
)

_PLACEHOLDER = re.compile(
    r"(?:env|file|keyring|vault|op|ref):[\w./-]+"  # names where a secret is, as our settings do
    r"|\{[\w.\[\]]+\}"  # a field of a format string
    r"|<[^<>\n]*>|\$\{[^}\n]*\}|\$\([^)\n]*\)|\$[A-Za-z_]\w*|\{\{.*\}\}|%[\w()]+%?|\*+|[xX]{3,}|\.{3,}|…"
    r"|\[REDACTED(?::[^\]\n]*)?\]|\**redacted\**|\[?(?:masked|hidden|filtered)\]?"
    r"|null|nil|none|undefined|unset|true|false|yes|no|on|off|enabled|disabled|optional|required"
    r"|missing|present|empty|invalid|valid|expired|changed|failed",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?:str|string|int|integer|bytes|bool|boolean|text|any|object|number|float|uuid|secretstr"
    r"|varchar(?:\(\d+\))?|char(?:\(\d+\))?)(?:\s*[|\[?!=;,)].*)?"
    r"|(?:Optional|Union|list|dict|List|Dict|Mapping|Sequence|Callable)\[.*"
    r"|(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*\(.*"
    r"|(?:self|this|os|process|args|config|settings|cfg|opts|options|request|req|env|params|ctx"
    r"|\.?Values)\.[\w.]+(?:\[.*)?|os\.environ\[.*|\[\]|\{\}|&?[a-z]\w*\.[A-Z]\w*",
)
_SOFT_CODE = re.compile(
    r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:[\[(].*)?[,;)]*"  # an attribute, perhaps called
    # A type, perhaps with a default.
    r"|[A-Za-z_][\w.]*(?:\[[^\n]*\])?(?:\s*\|\s*[\w.\[\]]+)*\s*(?:\||=)\s.*"
    r"|[A-Z][A-Za-z]*(?:\.[A-Za-z]+)*[,;)]+"  # a type or constant before the next one
)
_NAME_SHAPE = re.compile(r"[a-z0-9]{1,15}(?:[-.][a-z0-9]{1,15})+")
_CAMEL_WORDS = re.compile(r"[A-Z]?[a-z]+(?:[A-Z][a-z]+)+")
_DIRECTORY_KEYS = frozenset({"PWD", "OLDPWD"})
_DIRECTORY = re.compile(r"/(?:[\w.@+~-]+/?)*+")
"""What a shell keeps under these names; `PWD=` in a connection string is a password."""

MAX_JUDGED = 512
"""Characters of a value that tell what it is; no placeholder or piece of code is longer."""

_RANDOM_LENGTH = 8  # shorter words beside a weak name say nothing


@functools.lru_cache(maxsize=4096)  # a log repeats its few keys on every line
def key_strength(key: str) -> Strength:
    """Judge a key name in any spelling (camelCase, kebab-case, dotted, UPPER_SNAKE)."""
    name = _spelled(key)
    if _STRONG.search(name):
        benign = _BENIGN_END.search(name)
        return Strength.NONE if benign else Strength.STRONG
    if _WEAK.search(name) and not _SURE_KEY.search(name):
        return Strength.NONE if _BENIGN.search(name) else Strength.WEAK
    if _NORMAL.search(name) and not _BENIGN.search(name):
        # A webhook address is itself the credential; other addresses are judged by their content.
        if name.endswith("webhook_url"):
            return Strength.NORMAL
        return Strength.NONE if _BENIGN_END.search(name) else Strength.NORMAL
    return Strength.NONE


def _spelled(key: str) -> str:
    return _COUNTER.sub("", _SEPARATORS.sub("_", _CAMEL.sub("_", key)).lower().strip("_"))


def is_secret(key: str, value: str, *, prose: bool = False) -> bool:
    """Judge a pair. `prose` says that the pair stands within a sentence, not in a configuration."""
    strength = key_strength(key)
    if strength is Strength.NONE:
        return False
    plain = value.strip()
    if not any(char.isalnum() for char in plain):
        return False
    if len(plain) > MAX_JUDGED:
        # Expressions for code are tried on short texts alone: on long ones they cost too much.
        certain = strength is Strength.STRONG or (strength is Strength.NORMAL and not prose)
        return certain or looks_random(plain[:MAX_JUDGED])
    if _PLACEHOLDER.fullmatch(plain) or _CODE.fullmatch(plain):
        return False
    if key in _DIRECTORY_KEYS and _DIRECTORY.fullmatch(plain):
        return any(map(looks_random, plain.split("/")))
    if strength is Strength.STRONG:
        return True
    if _SOFT_CODE.fullmatch(plain) and not any(map(looks_random, plain.split("."))):
        return False
    if plain.isdigit() and len(plain) < 10:
        return False  # a count or a lifetime
    if strength is Strength.WEAK or prose:
        return looks_random(plain)
    return True


_SCHEMA_TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array"})
_REFERENCE = frozenset(
    {"name", "key", "namespace", "optional", "kind", "group", "apiversion"}
    | {"secretname", "secretkey", "property"}
)
_KEY_LIKE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,252}")
_NOT_NESTED = frozenset({"secret", "secrets", "auth", "token", "key", "serviceaccounttoken"})
"""Names of structures that say where a secret is, not what it is."""


def opens_credentials(key: str) -> bool:
    """Whether a mapping under this name holds credentials, each of its values one of them."""
    return key == "auths" or (key.lower() not in _NOT_NESTED and key_strength(key) > Strength.NONE)


def is_benign_member(key: str) -> bool:
    """Whether a member of a mapping of credentials only describes them (`type`, `enabled`)."""
    return _BENIGN_END.search(_spelled(key)) is not None


def is_reference(members: Mapping[str, object]) -> bool:
    """Whether a mapping says where a secret is kept: the name of an object, perhaps a key in it.

    Custom resources have them under names like `passwordSecret`.
    """
    folded = {key.lower().replace(" ", ""): value for key, value in members.items()}
    if not folded.keys() <= _REFERENCE or not folded.keys() & {"name", "secretname"}:
        return False
    return all(
        isinstance(value, bool)
        or value is None
        or (isinstance(value, str) and _KEY_LIKE.fullmatch(value) and not looks_random(value))
        for value in folded.values()
    )


def is_schema(members: Mapping[str, object]) -> bool:
    """Whether a mapping describes a field, as a CRD does, rather than being its value."""
    if members.get("type") in _SCHEMA_TYPES:
        return True
    return "$ref" in members or "x-kubernetes-preserve-unknown-fields" in members


def looks_random(value: str) -> bool:
    """Whether a word is unlike a word, a number or a Kubernetes name.

    Not an entropy rule: it only decides beside a key that already suggests a secret.
    """
    word = value.split(maxsplit=1)[0].strip("\"'`.,;:()[]") if value.strip() else ""
    if len(word) < _RANDOM_LENGTH or _NAME_SHAPE.fullmatch(word) or _CAMEL_WORDS.fullmatch(word):
        return False
    has_digit = any(char.isdigit() for char in word)
    has_alpha = any(char.isalpha() for char in word)
    mixed = any(char.isupper() for char in word[1:]) and any(char.islower() for char in word)
    return has_alpha and (has_digit or mixed)
