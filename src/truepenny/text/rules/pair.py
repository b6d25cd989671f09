"""Names with values: `key: value`, `key=value`, JSON members, flags, and `name`/`value` pairs.

Whether the name is sensitive and whether the value can be a secret is decided in
`truepenny.text.sensitive`; here stands how a pair is written.
"""

from __future__ import annotations

import re

from truepenny.text.rule import KEY_CHARS, Rule, Span
from truepenny.text.sensitive import (
    MAX_JUDGED,
    Strength,
    is_secret,
    key_strength,
    opens_credentials,
)

from .example import word

_ANCHORS = (
    "pass",
    "pwd",
    "pw",
    "psk",
    "secret",
    "token",
    "credential",
    "key",
    "auth",
    "jwt",
    "dockercfg",
    "dockerconfig",
    "docker_config",
    "connectionstring",
    "connection_string",
    "cookie",
    "session",
    "sessid",
    "bearer",
    "webhook",
)

_PAIR = (
    r"(?P<key>[A-Za-z0-9_.\-/]{1,128})(?P<kq>\\{0,4}[\"'])?"
    r"(?:(?P<sep>[ \t]{0,64}(?:=>|:=|=(?!=)|:(?!:|//))[ \t]{0,256})"
    r"|(?P<gap>[ \t]+|,[ \t]*(?=\\{0,4}[\"'])|,?(?=\n)|$))"
)

_LIST = re.compile(r"\[\s*(?P<q>\\{0,4}[\"'])")
MAX_LIST = 1024
"""Characters of a list of strings that are looked through for its end."""

_GO_MAP = "map["
"""How Go prints an object: what stands inside is no sentence."""

_QUOTE = re.compile(r"[bruf]{0,2}(?P<q>\\{0,4}[\"'])")
_IN_DOUBLE = re.compile(r'(?:\\.|[^"\\\n])*')
_IN_SINGLE = re.compile(r"(?:\\.|[^'\\\n])*")
_WORD = re.compile(
    r"(?:[^\s,;&\"'<>)}\]\\]|[,;](?![\s\"'{]|[\w.\-]{1,64}[=:]|$)|[)}\]](?=[A-Za-z0-9])|\\(?![\"'nrt]))+"
)
_PLACEHOLDER_HEAD = re.compile(
    r"<[^<>\n]{0,512}>|\$\{[^}\n]{0,512}\}|\$\([^)\n]{0,512}\)|\{\{[^}\n]{0,512}\}\}"
)
_STRUCTURE = re.compile(r"[{\[(](?!REDACTED)\s*(?:[\"'{\[\]}()]|\\|\n|$|[\w.\-/]+\s*[:,])")
_REST = re.compile(r"[^\n]*?(?=[ \t]+#|,[ \t]*[\w.\-]+[ \t]*[:=]|[ \t\r]*(?:\n|$))")
_NEXT_PAIR = re.compile(r"[ \t]+[\w.\-]{1,128}=")
_SCHEME = re.compile(r"(?:bearer|basic|token|digest|negotiate|apikey)[ \t]+", re.IGNORECASE)
_LINE_LEAD = re.compile(r"[ \t]*(?:-[ \t]+)*(?:export[ \t]+|set[ \t]+|env[ \t]+)?[\"']?")
MAX_LEAD = 512
"""Characters before a key that is the first on its line: the deepest indentation, many times."""

_BLOCK = re.compile(r"[|>][-+0-9]{0,2}[ \t\r]*(?:#[^\n]*)?(?=\n|$)")
_NAME_LEAD = re.compile(
    r"(?:^|[{,\[\s\-\"'\\])(?:name|key)\\{0,4}[\"']?[ \t]*:[ \t]*\\{0,4}[\"']?$", re.I
)
_VALUE_AFTER = re.compile(
    r"\\{0,4}[\"']?[ \t]*,[ \t]*\\{0,4}[\"']?value\\{0,4}[\"']?[ \t]*:[ \t]*", re.I
)
_LINE_END = re.compile(r"\\{0,4}[\"']?[ \t\r]*,?[ \t\r]*(?=\n|$)")
_FLAG = re.compile(r"--?[A-Za-z]")


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _pair(match: re.Match[str]) -> Span | None:
    key, text = match.group("key"), match.string
    strength = key_strength(key)
    if strength is Strength.NONE and key != "auths":
        return None
    sep = match.group("sep")
    if sep is None:
        return _flag(match) if _FLAG.match(key) else None
    at = match.end()
    begin = _line_start(text, match.start())
    leads = (
        match.start() - begin <= MAX_LEAD
        and key[0] not in "/."
        and _LINE_LEAD.fullmatch(text, begin, match.start()) is not None
    )
    if leads and (at == len(text) or text[at] == "\n" or _BLOCK.match(text, at)):
        return _opener(match, at)
    quote = _QUOTE.match(text, at)
    if quote:
        end = _quoted_end(text, quote)
        until = quote.group("q")[-1] + "\n"
        scheme = _SCHEME.match(text, quote.end(), end)
        start = scheme.end() if scheme else quote.end()
        return Span(start, end, until) if is_secret(key, text[start:end]) else None
    return _unquoted(match, at, leads=leads)


def _unquoted(match: re.Match[str], at: int, *, leads: bool) -> Span | None:
    key, sep, text = match.group("key"), match.group("sep"), match.string
    listed = _LIST.match(text, at)
    if listed:
        return _listed(key, listed)
    if _PLACEHOLDER_HEAD.match(text, at) or _STRUCTURE.match(text, at):
        return None  # the members of a structure are looked at one by one
    scheme = _SCHEME.match(text, at)
    begin = scheme.end() if scheme else at
    # A refused value is read again from every name inside it, so only its beginning is judged.
    first = _WORD.match(text, begin, begin + MAX_JUDGED)
    if first is None:
        return None
    before = text[match.start() - 1] if match.start() else "\n"
    spaced = sep.strip() in ("=", ":=", "=>") and sep != sep.strip()
    colon = sep.strip() == ":"
    # A quote that opened before the key closes after the value: a header on a command line.
    if before in "\"'" and not match.group("kq"):
        end = text.find(before, begin)
        end = len(text) if end < 0 else end
        line = text.find("\n", begin)
        end = min(end, line) if line >= 0 else end
        return Span(begin, end, before + "\n") if is_secret(key, text[begin:end]) else None
    rest = _REST.match(text, begin) if leads and not spaced and not match.group("kq") else None
    whole = rest.group() if rest else ""
    if whole and (colon or not _NEXT_PAIR.search(whole)):
        if not is_secret(key, whole) or whole.rstrip(",;)") == key:
            return None
        return Span(begin, begin + len(whole), "\n")
    value = first.group()
    prose = spaced or (colon and not match.group("kq"))
    if prose and sep == ":" and before in " [":
        lowest = max(_line_start(text, match.start()), match.start() - MAX_LEAD)
        prose = _GO_MAP not in text[lowest : match.start()]
    if not is_secret(key, value, prose=prose):
        return None
    if value == key:
        return None  # a keyword argument passed on under its own name
    end = first.end()
    if end == begin + MAX_JUDGED:
        whole_word = _WORD.match(text, begin)
        end = whole_word.end() if whole_word else end
    return Span(begin, end)


def _listed(key: str, listed: re.Match[str]) -> Span | None:
    """`"password": ["a", "b"]`: one mask for what is between the outer quotes."""
    text, start, quote = listed.string, listed.end(), listed.group("q")
    limit = min(len(text), start + MAX_LIST)
    line = text.find("\n", start, limit)
    limit = limit if line < 0 else line
    close = re.compile(rf"{re.escape(quote)}\s*\]").search(text, start, limit)
    end = close.start() if close else limit
    parts = re.split(rf"{re.escape(quote)}\s*,\s*{re.escape(quote)}", text[start:end])
    secret = any(is_secret(key, part) for part in parts)
    return Span(start, end, f"{quote[-1]}]\n") if secret else None


def _quoted_end(text: str, quote: re.Match[str]) -> int:
    opener, at = quote.group("q"), quote.end()
    if len(opener) == 1:
        inside = (_IN_DOUBLE if opener == '"' else _IN_SINGLE).match(text, at)
        return inside.end() if inside else at
    line = text.find("\n", at)
    line = len(text) if line < 0 else line
    end = text.find(opener, at, line)
    # One more backslash before it is a quote of the level below, inside the value.
    while end > 0 and text[end - 1] == "\\":
        end = text.find(opener, end + 1, line)
    return line if end < 0 else end


def _opener(match: re.Match[str], at: int) -> Span | None:
    key, text = match.group("key"), match.string
    if _BLOCK.match(text, at):
        return Span(at, at, "\n", "block")
    if ":" not in match.group("sep") or not opens_credentials(key):
        return None
    return Span(at, at, "\n", "nested")


def _flag(match: re.Match[str]) -> Span | None:
    """A flag with its value as the next word, list member or list item."""
    key, text, at = match.group("key"), match.string, match.end()
    gap = match.group("gap")
    if not gap or (gap == "," and text.startswith("\n", at)):
        lead = text[_line_start(text, match.start()) : match.start()].strip()
        return Span(at, at, "\n", "item") if lead in ("-", '- "', "- '", '"', "'", "") else None
    quote = _QUOTE.match(text, at)
    if quote:
        start, end = quote.end(), _quoted_end(text, quote)
    else:
        word_match = _WORD.match(text, at)
        if word_match is None or text[at] == "-":
            return None
        start, end = at, word_match.end()
    return Span(start, end) if is_secret(key, text[start:end]) else None


def _named(match: re.Match[str]) -> Span | None:
    """`name: DB_PASSWORD` with its `value:` beside it or on the next line."""
    key, text = match.group("key"), match.string
    at = match.start()
    if at == 0 or text[at - 1] not in " \t\"':" or key_strength(key) < Strength.NORMAL:
        return None
    lead = text[max(_line_start(text, match.start()), match.start() - 48) : match.start()]
    if not _NAME_LEAD.search(lead):
        return None
    beside = _VALUE_AFTER.match(text, match.end())
    if beside is None:
        if _LINE_END.match(text, match.end()):
            return Span(match.end(), match.end(), "\n", "value")
        return None
    quote = _QUOTE.match(text, beside.end())
    if quote:
        start, end = quote.end(), _quoted_end(text, quote)
        until = quote.group("q")[-1] + "\n"
    else:
        value = _WORD.match(text, beside.end())
        if value is None:
            return None
        start, end, until = value.start(), value.end(), " ,}\n"
    return Span(start, end, until) if is_secret(key, text[start:end]) else None


RULES = (
    Rule(
        "assignment",
        _ANCHORS,
        _PAIR,
        (
            "password: hunter2",
            "password: hunter two words",
            "PGPASSWORD=hunter2 psql",
            '{"api_key":"abc-def-ghi"}',
            '{\\"client_secret\\":\\"abc\\\\\\"def\\"}',
            "AccountName=a;AccountKey=" + word(40) + "==;EndpointSuffix=x",
            "Server=db;Password=p,w;Database=x",
            "?user=a&access_token=abcdef123456&x=1",
            "  client-key-data: " + word(60),
            "x-api-key: " + word(20),
            "Cookie: session=abc; theme=dark",
            "curl -H 'X-Auth-Token: abcdef'",
            "deploy --password hunter2 --wait",
            '["--token", "abcdef"]',
            "password: |\n  hunter2\n  more\nuser: bob",
            "credentials:\n  id: abc\n  value: def\nnext: 1",
            "args:\n- --password\n- hunter2",
            '"args": [\n  "--password",\n  "hunter2"\n]',
            "the password: hunter2 was wrong",
            ".dockerconfigjson: " + word(40),
            "npm: _authToken=" + word(20),
            '{"password":["x"]}',
            '"password": [ "a", "b c" ],',
            "map[password:aHVudGVy user:Ym9i]",
            "map[labels:map[a:b] token:abcdef]",
        ),
        (
            "token_count: 5",
            "max_tokens: 4096",
            "tokenExpirationSeconds: 3607",
            "secretName: db-credentials",
            "DB_PASSWORD:  <set to the key 'password' in secret 'db'>  Optional: false",
            "secretKeyRef: {name: db, key: password}",
            "Mountable secrets:   <none>",
            "Tokens:              builder-token-x7k2p",
            "Image pull secrets:  registry-pull",
            "automountServiceAccountToken: false",
            'unable to fetch secret: secrets "db" not found',
            "SyntaxError: unexpected token: foo",
            "def login(user: str, password: str) -> str:",
            "password = os.environ['PASSWORD']",
            "const token = getToken();",
            "self.token = token",
            "if token == other:",
            "login(password=password)",
            "password: ${DB_PASSWORD}",
            "password: [REDACTED:assignment]",
            "primary_key: 17a",
            "sort_key=created",
            "volumes:\n- name: x\n  secret:\n    secretName: db\n    defaultMode: 420",
            "/var/run/secrets/token: No such file or directory",
            "author: Alice Example",
            "passed: 12, failed: 3",
            "keyboard: de",
            'api_key = "env:SERVICE_KEY"',
            'headers={"Authorization": f"Bearer {key}"}',
            "cache_read_tokens=read,",
            'CUT_KEY = "_cut"',
            "def reset(self, token: EventLoopToken | None = None) -> None:",
            "    token: EventLoopToken | None = None,",
            "    session_cookie=self.session_cookie,",
            '{"secret": {"secretName": name, "defaultMode": 420}}',
            '"getting credentials: ", "credential_plugin"',
            "One pass: it reads the rest",
            '  "Secret": 31,',
            '"secrets": [],',
            '{"tokens": ["builder-token"], "imagePullSecrets": [{"name": "x"}]}',
            "unexpected token:found [a b]",
            "passwordSecret:\n  name: db\n  key: POSTGRES_PASSWORD\nnext: 1",
            "auth:\n  credentials:\n    namespace: a\n    name: b\n",
            "    password:\n      description: |-\n        The password.\n      type: string\n",
            "  properties:\n    token:\n      type: object\n      properties:\n        a: b\n",
        ),
        folded=True,
        back=KEY_CHARS,
        locate=_pair,
    ),
    Rule(
        "named-value",
        _ANCHORS,
        r"(?P<key>[A-Za-z0-9_.\-]{1,128})",
        (
            '{"name":"DB_PASSWORD","value":"hunter2"}',
            "- name: API_TOKEN\n  value: abcdef",
            '{\\"name\\":\\"DB_PASSWORD\\",\\"value\\":\\"hunter2\\"}',
            '"name": "DB_PASSWORD",\n"value": "hunter2"',
        ),
        (
            "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db",
            "- name: TOKEN_COUNT\n  value: '5'",
        ),
        folded=True,
        back=KEY_CHARS,
        locate=_named,
    ),
)
