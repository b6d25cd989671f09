"""Programs that no rule may ever allow, and what to run instead of some that are absent."""

from __future__ import annotations

import re

_SHELLS = (
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "csh",
    "tcsh",
    "ash",
    "rbash",
    "pwsh",
)
_INTERPRETERS = (
    *("python", "pypy", "perl", "ruby", "irb", "node", "nodejs", "deno", "bun", "lua", "luajit"),
    *(
        "php",
        "tclsh",
        "expect",
        "wish",
        "java",
        "jshell",
        "jrunscript",
        "groovy",
        "scala",
        "Rscript",
    ),
    *("R", "julia", "ghc", "runghc", "guile", "racket", "erl", "elixir", "iex", "gawk", "mawk"),
    *("nawk", "awk", "sed", "ed", "ex", "vi", "vim", "view", "nvim", "emacs", "nano", "bc", "dc"),
    *("m4", "make", "cmake", "gcc", "cc", "go", "rustc", "cargo", "sqlite3", "psql", "mysql"),
)
_WRAPPERS = (
    *(
        "sudo",
        "su",
        "doas",
        "runuser",
        "setpriv",
        "chroot",
        "nsenter",
        "unshare",
        "pkexec",
        "capsh",
    ),
    *("xargs", "parallel", "timeout", "nice", "ionice", "chrt", "taskset", "numactl", "setsid"),
    *("nohup", "stdbuf", "unbuffer", "script", "watch", "strace", "ltrace", "gdb", "perf", "time"),
    *("env", "exec", "command", "builtin", "eval", "source", ".", "flock", "setarch", "linux32"),
    *("busybox", "toybox", "systemd-run", "start-stop-daemon", "at", "batch", "crontab", "entr"),
    *("screen", "tmux", "dbus-run-session", "faketime", "proot", "fakeroot", "firejail", "bwrap"),
    *("less", "more", "man", "git", "docker", "podman", "nerdctl", "ctr-run", "runc", "kubectl"),
)
_NETWORK = (
    *("nc", "ncat", "netcat", "socat", "wget", "ssh", "scp", "sftp", "rsync", "telnet", "ftp"),
    *("tftp", "openssl", "aria2c", "lftp", "rclone", "mosh"),
)

FORBIDDEN = frozenset((*_SHELLS, *_INTERPRETERS, *_WRAPPERS, *_NETWORK))
"""Shells, interpreters, editors, what runs another program, and what carries data away (3.10)."""

_VERSIONED = re.compile(r"[0-9]+(?:[._-]?[0-9]+)*[a-z]?$")


def forbidden(name: str) -> bool:
    """Whether a program is one of those, also under a versioned name (`python3.12`) or path."""
    base = name.rpartition("/")[2]
    # Also `python3.12`, `gcc-12`, `nc.traditional` and the case of a file system without case.
    stem = base.partition(".")[0]
    spellings = {base, _VERSIONED.sub("", base).rstrip("-._"), stem, _VERSIONED.sub("", stem)}
    return bool({form for s in spellings for form in (s, s.lower())} & FORBIDDEN)


WRAPPERS = frozenset(_WRAPPERS)
"""What a hint may leave out in front of the command that it ran."""

ALTERNATIVES = {
    "less": "cat",
    "more": "cat",
    "vi": "cat",
    "vim": "cat",
    "view": "cat",
    "nano": "cat",
    "zless": "zcat",
    "docker": "crictl",
    "podman": "crictl",
    "nerdctl": "crictl",
    "gawk": "cut",
    "service": "systemctl status",
    "htop": "top -b -n 1",
    "atop": "top -b -n 1",
    "who": "uptime",
    "w": "uptime",
    "nft": "iptables -L -n",
    "wget": "curl -s",
    "helm": "kubectl get pods",
    "k9s": "kubectl get pods",
    "fdisk": "lsblk",
    "parted": "lsblk",
    "ipvsadm": "iptables -t nat -L -n",
    "dir": "ls",
    "ll": "ls -l",
}
"""A near neighbour that reads; a hint is made of it and checked."""
