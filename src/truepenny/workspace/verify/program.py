"""Which first words of an argument list are shells: a check is declared word by word."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

SHELLS = frozenset({
    "ash", "bash", "busybox", "cmd", "cmd.exe", "csh", "dash", "elvish", "fish", "hush", "ksh",
    "ksh93", "mksh", "nu", "osh", "pdksh", "posh", "powershell", "pwsh", "rbash", "rksh", "rzsh",
    "sh", "tcsh", "toybox", "xonsh", "yash", "zsh",
})  # fmt: skip

WRAPPERS = frozenset({
    "chroot", "chrt", "command", "doas", "env", "exec", "flock", "ionice", "nice", "nohup",
    "numactl", "parallel", "runuser", "script", "setpriv", "setsid", "stdbuf", "su", "sudo",
    "taskset", "time", "timeout", "unshare", "watch", "xargs",
})  # fmt: skip
"""Programs that run what their further words name."""

MULTICALL = frozenset({"busybox", "toybox"})
"""Behind a link these are the program that the link is named for."""


def shell_in(argv: tuple[str, ...], folder: Path) -> str:
    """Return the word that makes the list a shell's, empty if none does.

    A path is followed as well, from `folder`: a link named `check` may lead to a shell.
    """
    first = argv[0]
    name = PurePosixPath(first).name
    if name in SHELLS:
        return first
    if "/" in first:
        try:
            real = (folder / first).resolve().name
        except (OSError, RuntimeError):
            real = ""
        if real in SHELLS - MULTICALL:
            return first
    if name in WRAPPERS:
        return next((word for word in argv[1:] if PurePosixPath(word).name in SHELLS), "")
    return ""
