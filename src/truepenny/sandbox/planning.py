"""Making the plan of one run from a profile, a workspace and the settings.

Order is meaning: the system, what the settings add, our code, the workspace, what is held inside
it, what the caller adds, and the masks after all of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from truepenny.config.settings import SandboxSettings
from truepenny.errors import ConfigurationError, CouldNotRun

from .access import reaches
from .baseline import USR, baseline_mounts
from .blocked import WHERE as WORKSPACE
from .blocked import check_workspace, code_folders
from .guarded import CODE_REASON, guarded_mounts
from .hidden import homes, own_folders, secrets_of
from .place import NotAPlace, is_within, lineage, open_place, reason
from .plan import Account, Mode, Mount, Network, Plan, Profile, ResourceLimits

READ_PATHS = "sandbox.read_paths"
"""Where an error lies, and the reason of these mounts."""

MOST_STEPS = 4096
"""Parts of a path with all the links in it; the kernel gives up after 40 links."""


def plan_for(
    profile: Profile,
    workspace: Path,
    account: Account,
    settings: SandboxSettings,
    *,
    mounts: Sequence[Mount] = (),
    masks: Sequence[Path] = (),
    env: Mapping[str, str] | None = None,
) -> Plan:
    """Return the plan. `workspace` is absolute and resolved; so are the sources in `mounts`.

    `masks` are further paths to hide, as seen inside. `env` is our own environment (None: the
    process's), from which our own folders and the homes are known. Raises ConfigurationError for
    a workspace or a setting that would open what must stay closed, CouldNotRun where the
    workspace is not there or stands behind a symbolic link.
    """
    env = os.environ if env is None else env
    own, known = own_folders(env), homes(env, account)
    _check_place(workspace)
    ours = tuple(_resolved(own))
    check_workspace(workspace, ours, known)
    hidden = (*ours, *_resolved(path for home in known for path in secrets_of(home)))
    _check_plain(mounts, masks)
    code = code_folders()
    found = [
        *baseline_mounts(),
        *_read_paths(settings.read_paths, hidden, workspace),
        *(_code_mounts(code, account) if profile is Profile.TOOL_SERVER else ()),
        Mount(Mode.WRITE, workspace, "the workspace", workspace, required=True, protected=True),
        *guarded_mounts(workspace, code),
        *mounts,
    ]
    return Plan(
        profile=profile,
        mounts=tuple(found),
        cwd=workspace,
        account=account,
        network=Network(settings.network),
        masks=_masks(found, hidden, masks, ours),
        limits=ResourceLimits(
            memory=settings.memory, processes=settings.processes, cpu=settings.cpu
        ),
    )


def _check_place(workspace: Path) -> None:
    try:
        place = open_place(workspace)
    except (OSError, NotAPlace) as error:
        raise CouldNotRun(
            f"the workspace {workspace} cannot be opened: {reason(error)}",
            where=WORKSPACE,
            remedy="Name a folder that is there, by its real path.",
        ) from error
    folder = place.is_folder
    place.close()
    if not folder:
        raise ConfigurationError(
            f"{workspace} is not a folder", where=WORKSPACE, remedy="Name a folder."
        )


def _read_paths(paths: Iterable[str], hidden: Sequence[Path], workspace: Path) -> Iterator[Mount]:
    for text in paths:
        path = Path(text)
        if ".." not in path.parts and is_within(path, workspace):
            continue  # It is there anyway.
        source = path.resolve() if path.is_absolute() else path
        why = ""
        if not path.is_absolute() or ".." in path.parts:
            why = "it is not a plain absolute path"
        elif source == Path("/"):
            why = "it is everything"
        elif any(is_within(source, secret) for secret in hidden):
            why = "secrets or Truepenny's own files are in there"
        elif any(is_within(source, Path(system)) for system in ("/proc", "/sys", "/dev")):
            why = "it shows what other processes do"
        elif any(is_within(place, workspace) for place in _passed(path)):
            # A command could turn what lies there into a link to anywhere.
            why = "it leads through the workspace"
        if why:
            raise ConfigurationError(
                f"{text!r} cannot be shown to commands: {why}",
                where=READ_PATHS,
                remedy="Name the one folder or file that commands need.",
            )
        yield Mount(Mode.READ, path, READ_PATHS, source)


def _passed(path: Path) -> Iterator[Path]:
    """Yield every place that is passed on the way to where a path leads, links and all."""
    waiting, here = list(reversed(path.parts)), Path("/")
    for _ in range(MOST_STEPS):
        if not waiting:
            return
        part = waiting.pop()
        here = here.parent if part == ".." else here / part
        yield here
        try:
            waiting += reversed(Path(os.readlink(here)).parts)
        except OSError:
            continue  # No link, or nothing there: on to the next part.
        here = here.parent


def _code_mounts(code: Iterable[Path], account: Account) -> Iterator[Mount]:
    """Yield what we run from, as far as the account can reach it: of an installation in a private
    place such as /root it sees nothing, and a start of our interpreter there says so."""
    places = [(path, path) for path in code]
    # The name that programs of the environment have in their first line may be a link to it.
    for written in (Path(sys.prefix), Path(sys.base_prefix)):
        source = written.resolve()
        if source != written and not is_within(source, USR):
            places.append((written, source))
    for destination, source in places:
        if not account.drop or reaches(account, source):
            yield Mount(Mode.READ, destination, CODE_REASON, source, required=True, protected=True)


def _resolved(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the real places. What is reached by a link is hidden where it really lies."""
    above: dict[str, str] = {}
    for text in dict.fromkeys(map(str, paths)):
        folder, _, name = text.rpartition("/")
        if folder not in above:
            above[folder] = os.path.realpath(folder or "/").rstrip("/")
        real = f"{above[folder]}/{name}"
        if name == ".." or os.path.islink(real):
            real = os.path.realpath(text)
            if os.path.islink(real):
                continue  # A circle of links leads to nothing that could be shown.
        yield Path(real)


def _check_plain(mounts: Iterable[Mount], masks: Iterable[Path]) -> None:
    for path in (*(mount.destination for mount in mounts), *masks):
        if not path.is_absolute() or ".." in path.parts:
            raise ValueError(f"{path} is not a plain absolute path")


def _masks(
    mounts: Sequence[Mount], hidden: Sequence[Path], more: Sequence[Path], ours: Sequence[Path]
) -> tuple[Path, ...]:
    """Return what of the hidden places would be seen through a mount, as named inside."""
    found = set(more)
    shown: dict[str, list[Mount]] = {}
    secret = {str(path): path for path in hidden}
    for mount in mounts:
        if mount.mode not in (Mode.READ, Mode.WRITE) or mount.source is None:
            continue
        shown.setdefault(str(mount.source), []).append(mount)
        above = next((secret[text] for text in lineage(mount.source) if text in secret), None)
        # One file of ours, such as a socket, is shown by our own code; all of a folder never is.
        meant = mount.protected or (above in ours and above != mount.source)
        if above is not None and not meant:
            raise ConfigurationError(
                f"{mount.source} cannot be shown to commands: it lies in {above}",
                where="sandbox",
                remedy="Move it out of there.",
            )
    for path in hidden:
        # One that may not even be looked at, not by us, the account cannot reach either.
        for text in lineage(path)[1:] if os.path.lexists(path) else ():
            for mount in shown.get(text, ()):
                found.add(mount.destination / path.relative_to(text))
    # One inside another cannot be made: the outer one is empty and read-only by then.
    outer = sorted(
        path for path in found if not any(path != o and is_within(path, o) for o in found)
    )
    for mask in outer:
        for mount in mounts:
            if (mount.protected or mount.required) and is_within(mount.destination, mask):
                raise ConfigurationError(
                    f"hiding {mask} would hide {mount.destination} ({mount.reason})",
                    where="sandbox",
                    remedy="Keep the workspace apart from Truepenny's own folders.",
                )
    return tuple(outer)
