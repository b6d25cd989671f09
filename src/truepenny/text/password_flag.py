"""Programs that take a password behind a short flag, which alone says nothing: `-p` is a port, a
path or a project elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

PASSWORD_FLAGS: dict[str, tuple[str, ...]] = {
    "docker": ("-p",),
    "podman": ("-p",),
    "nerdctl": ("-p",),
    "buildah": ("-p",),
    "skopeo": ("-p",),
    "crane": ("-p",),
    "oras": ("-p",),
    "helm": ("-p",),
    "mysql": ("-p",),
    "mysqldump": ("-p",),
    "mysqladmin": ("-p",),
    "mariadb": ("-p",),
    "mariadb-dump": ("-p",),
    "mongo": ("-p",),
    "mongosh": ("-p",),
    "mongodump": ("-p",),
    "mongorestore": ("-p",),
    "cqlsh": ("-p",),
    "rabbitmqadmin": ("-p",),
    "sshpass": ("-p",),
    "redis-cli": ("-a",),
    "ldapsearch": ("-w",),
    "ldapmodify": ("-w",),
    "ldapadd": ("-w",),
    "sqlcmd": ("-P",),
    "bcp": ("-P",),
    "ipmitool": ("-P",),
    "unzip": ("-P",),
    "snmpwalk": ("-A", "-X"),
    "snmpget": ("-A", "-X"),
}
"""Program: the flags whose next word is a password."""

NEEDS_LOGIN = frozenset(
    {"docker", "podman", "nerdctl", "buildah", "skopeo", "crane", "oras", "helm"}
)
"""Of these only the subcommand `login` takes one; `docker run -p 80:80` does not."""

OPTIONAL_VALUE = frozenset({"mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump"})
"""Of these the flag takes its value without a space, and alone asks for it."""

NO_FLAGS: frozenset[str] = frozenset()

MAX_WORDS = 32
"""Words before a flag among which its program is looked for."""


def flags_of(words: Sequence[str]) -> frozenset[str]:
    """Return the flags in a command line whose next word is a password."""
    known = NO_FLAGS
    # The last ones: a log puts its own words before a command.
    for word in words[-MAX_WORDS:]:
        name = word.rpartition("/")[2]
        flags = PASSWORD_FLAGS.get(name)
        if flags is not None and (name not in NEEDS_LOGIN or "login" in words[-MAX_WORDS:]):
            known |= frozenset(flags)
    return known
