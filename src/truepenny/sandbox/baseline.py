"""What of the system every sandbox sees: its programs and libraries, and the few files of /etc
that they need (assistant spec 3.1, rows 1 to 3). No home, no /var, no /run, no /sys.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path

from .credential.environment import HOME, TEMPORARY
from .plan import Mode, Mount

USR = Path("/usr")

MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Links into /usr on most systems, folders of their own on some; absent names are left out."""

OTHER_ROOTS = ("/nix/store", "/gnu/store")
"""Where the systems that do not use /usr keep everything; readable by all accounts there."""

# Each folder is a mount, and a mount is 0.2 ms of every start: no more than what programs break
# without. Files are copied; like mounted ones they stay what they were when an editor or a resolver
# puts a new file in their place.
ETC = (
    "alternatives",  # awk, cc and vi are links through it
    "ca-certificates",
    "group",
    "hosts",
    "ld.so.cache",
    "localtime",
    "nsswitch.conf",
    "passwd",
    "pki/ca-trust",
    "pki/tls/certs",
    "resolv.conf",
    "services",
    "ssl/certs",  # not ssl/private, whatever its mode
    "ssl/openssl.cnf",
)


@functools.cache
def baseline_mounts(root: Path = Path("/")) -> tuple[Mount, ...]:
    """Return the mounts, in order; `root` is where the system is looked at, once for each process
    of ours. What vanishes later is left out of a start like anything that is not there."""
    return tuple(_mounts(root))


def _mounts(root: Path) -> Iterator[Mount]:
    yield Mount(Mode.READ, USR, "programs and libraries", root / "usr", required=True)
    for name in MERGED:
        source = root / name
        if source.is_symlink():
            text = os.readlink(source)
            yield Mount(Mode.LINK, Path("/", name), "programs and libraries", Path(text))
        elif source.is_dir():
            yield Mount(Mode.READ, Path("/", name), "programs and libraries", source)
    for path in OTHER_ROOTS:
        source = root / path[1:]
        if source.is_dir():
            yield Mount(Mode.READ, Path(path), "programs and libraries", source.resolve())
    for name in ETC:
        source = root / "etc" / name
        if source.exists():
            path = Path("/etc", name)
            yield Mount(Mode.READ, path, "system configuration", source.resolve(), copied=True)
    yield Mount(Mode.PROC, Path("/proc"), "its own processes")
    yield Mount(Mode.DEV, Path("/dev"), "null, zero, random, a terminal of its own")
    yield Mount(Mode.EMPTY, TEMPORARY, "temporary files, gone at the end")
    yield Mount(Mode.EMPTY, HOME, "a home of its own, gone at the end")
