"""Secrets in addresses, headers and command lines of web clients."""

from __future__ import annotations

import base64
import binascii
import re

from truepenny.text.password_flag import OPTIONAL_VALUE, PASSWORD_FLAGS, flags_of
from truepenny.text.rule import ALNUM, Rule, Span

from .example import digest, word

_PLACEHOLDER = re.compile(r"\$\{?[\w.:-]+\}?|<.*>?|\*+|\{\{.*|%\w+%|x{3,}", re.IGNORECASE)


def _uri_password(match: re.Match[str]) -> Span | None:
    secret = match.group("secret")
    if _PLACEHOLDER.fullmatch(secret):
        return None
    return Span(match.start("secret"), match.end("secret"))


def _basic(match: re.Match[str]) -> Span | None:
    """Base64 that decodes to printable `user:password`."""
    secret = match.group("secret")
    try:
        text = base64.b64decode(secret + "=" * (-len(secret) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    good = ":" in text and text.isprintable()
    return Span(match.start("secret"), match.end("secret")) if good else None


_PROGRAMS = "|".join(re.escape(name) for name in sorted(PASSWORD_FLAGS, key=len, reverse=True))


def _password_flag(match: re.Match[str]) -> Span | None:
    text, at = match.string, match.start()
    begin = max(text.rfind("\n", 0, at) + 1, at - MAX_COMMAND)
    # The command that the flag belongs to, not one before it on the line.
    words = re.findall(r"[\w./-]+", re.split(r"[|;&]", text[begin:at])[-1])
    secret = match.group("secret")
    if match.group("flag") not in flags_of(words) or _PLACEHOLDER.fullmatch(secret):
        return None
    # The clients of MySQL take no word behind a bare flag: what stands there is a database.
    optional = not OPTIONAL_VALUE.isdisjoint(word.rpartition("/")[2] for word in words)
    if optional and not any(map(str.isdigit, secret)):
        return None
    return Span(match.start("secret"), match.end("secret"))


_FLAGS = sorted({flag for flags in PASSWORD_FLAGS.values() for flag in flags})
_AROUND = ((" ", " "), ('"', '"'), ("'", "'"))
MAX_COMMAND = 500
"""Characters before a flag in which its program is looked for."""


_JWT = (
    base64.urlsafe_b64encode(b'{"alg":"RS256","typ":"JWT"}').decode("ascii").rstrip("=")
    + "."
    + base64.urlsafe_b64encode(b'{"sub":"system:serviceaccount:a:b"}').decode("ascii").rstrip("=")
)

RULES = (
    Rule(
        "jwt",
        ("eyJ",),
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.(?:eyJ[A-Za-z0-9_-]{8,}|[A-Za-z0-9_-]{16,})"
        r"(?:\.[A-Za-z0-9_-]*){0,3}",
        (_JWT + "." + word(86), "token " + _JWT + ".", "?id_token=" + _JWT + "." + word(43)),
        ("eyJhbGciOiJub25lIn0", "eyJ.md"),
    ),
    Rule(
        "docker-auth-config",
        ("eyJhdXRocyI6", "ewogICJhdXRocyI6", "ewoJImF1dGhzIj"),
        r"e[wy]\w{8,}[A-Za-z0-9+/]{8,}={0,2}",
        (base64.b64encode(b'{"auths":{"r.example":{"auth":"YTpi"}}}').decode("ascii"),),
        (base64.b64encode(b'{"authors":["one","two"]}').decode("ascii"),),
    ),
    Rule(
        "bearer-token",
        ("bearer ", "bearer:", "bearer%20", "token "),
        r"(?:(?<![a-z0-9])bearer(?:[ :]\s?|%20)(?P<secret>[a-z0-9._~+/=-]{16,})"
        r"|(?<=authorization: )token (?P<other>[a-z0-9._-]{16,}))",
        ("Authorization: Bearer " + word(24), "curl -H 'authorization: bearer " + word(40) + "'"),
        ("the bearer of this letter", "Bearer <token>", "bearer authentication-scheme"),
        folded=True,
        locate=lambda match: _bearer(match),
    ),
    Rule(
        "basic-auth",
        ("basic ",),
        r"(?<![a-z0-9])basic (?P<secret>[a-z0-9+/_-]{6,}={0,2})",
        ("Authorization: Basic " + base64.b64encode(b"bob:s3cret-1").decode("ascii"),),
        ("basic information", "Basic authentication"),
        folded=True,
        locate=_basic,
    ),
    Rule(
        "uri-password",
        ("://",),
        r"://[^\s/?#@:\"'<>\\]{0,256}:(?P<secret>[^\s/\"'<>\\]{1,512}"
        r"|(?!\d{1,5}(?:[/?#]|$))[^\s\"'<>@\\]{1,512})@",
        (
            "postgres://app:hunter2@db:5432/shop",
            "redis://:s3cr3t@cache:6379/0",
            "amqp://u:p@ss@mq/vhost",
            "mongodb+srv://u:pa/ss@cluster.example/x",
        ),
        (
            "http://host:8080/@scope/pkg",
            "https://example.com/a:b@c",
            "ssh://git@example.com:22/x",
            "postgres://$USER:$PASSWORD@db/x",
            "postgres://user:<password>@db/x",
        ),
        locate=_uri_password,
    ),
    Rule(
        "uri-token",
        ("://",),
        r"https?://(?P<secret>(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{24,255})@",
        ("https://" + digest(32) + "@o1.ingest.example/1",),
        ("https://a-user@example.com/x",),
        back=ALNUM,
    ),
    Rule(
        "curl-user",
        ("curl ",),
        r"curl [^\n|;]{0,500}?(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,128}"
        r":(?P<secret>[^\s\"']{1,256})",
        ("curl -sS -u admin:hunter2 https://x.example",),
        ("curl -u admin https://x.example:8080", "curl -u $U:$P https://x.example"),
        locate=_uri_password,
    ),
    Rule(
        "mysql-password",
        ("mysql", "mariadb", "sshpass "),
        r"(?:(?:mysql|mariadb)[a-z-]{0,12} (?:[^\n|;]{0,300}? )??-p|sshpass -p ?)"
        r"(?P<secret>[^\s\"'-][^\s\"']{3,255})",
        ("mysqldump -uroot -phunter2 shop", "sshpass -p hunter2 ssh host"),
        ("mysql -p -u root", "mysql -p$PASSWORD shop"),
        locate=_uri_password,
    ),
    Rule(
        "password-flag",
        tuple(f"{lead}{flag}{end}" for flag in _FLAGS for lead, end in _AROUND),
        r"[ \"'](?P<flag>-[A-Za-z])(?P<q>[\"']?)"
        r"(?:[ \t]+|[ \t]*,[ \t]*)[\"']?(?P<secret>[^\s\"'-][^\s\"']{2,255})",
        (
            "docker login -u bob -p hunter2 r.example",
            "/usr/bin/redis-cli -h cache -a hunter2 ping",
            'command: ["mysql", "-u", "root", "-p", "hunter2"]',
            "ldapsearch -x -w 'hunter2'",
        ),
        (
            "docker run -p 8080:80 web",
            "psql -p 5432 shop",
            "mkdir -p /var/lib/x",
            "redis-cli -h cache -p 6379",
            "docker login -p $TOKEN",
            "mysql -h db -p shop",
        ),
        locate=_password_flag,
    ),
)


def _bearer(match: re.Match[str]) -> Span | None:
    group = "secret" if match.group("secret") else "other"
    secret = match.group(group)
    # A scheme name in prose has no digit; a real token of 16 characters or more has one.
    if not any(char.isdigit() for char in secret):
        return None
    return Span(match.start(group), match.end(group))
