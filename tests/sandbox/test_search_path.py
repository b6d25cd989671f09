"""PATH as a command finds it."""

from __future__ import annotations

from pathlib import Path

from truepenny.sandbox.credential.environment import STANDARD_PATH
from truepenny.sandbox.plan import Account, Mode, Mount, Plan, Profile
from truepenny.sandbox.search_path import search_path

ACCOUNT = Account("ada", 1000, 1000, drop=False)


def plan(*mounts: tuple[Mode, str], masks: tuple[Path, ...] = ()) -> Plan:
    made = tuple(Mount(mode, Path(path), "a reason", Path(path)) for mode, path in mounts)
    return Plan(Profile.COMMAND, made, Path("/work"), ACCOUNT, masks=masks)


def test_only_what_is_shown_stays_and_in_its_order() -> None:
    shown = plan((Mode.READ, "/usr"), (Mode.LINK, "/bin"), (Mode.READ, "/srv/tools"))
    path = "/home/ada/.venv/bin:/srv/tools/bin:/usr/bin:/usrx/bin:/bin:/usr/bin"
    assert search_path(path, shown) == "/srv/tools/bin:/usr/bin:/bin"
    assert search_path("/home/ada/bin", shown) == STANDARD_PATH


def test_the_deepest_mount_decides_and_of_two_in_one_place_the_later() -> None:
    covered = plan((Mode.READ, "/srv"), (Mode.EMPTY, "/srv/a"), (Mode.READ, "/srv/a/bin"))
    assert search_path("/srv/bin:/srv/a/x:/srv/a/bin", covered) == "/srv/bin:/srv/a/bin"
    twice = plan((Mode.READ, "/srv"), (Mode.EMPTY, "/srv"), (Mode.READ, "/usr"))
    assert search_path("/srv/bin:/usr/bin", twice) == "/usr/bin"


def test_what_is_masked_is_not_there() -> None:
    masked = plan((Mode.READ, "/usr"), masks=(Path("/usr/private"),))
    assert search_path("/usr/private/bin:/usr/bin", masked) == "/usr/bin"


def test_a_folder_is_told_by_the_name_that_it_has_inside(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "tools")
    real = str((tmp_path / "tools").resolve())
    shown = plan((Mode.READ, real))
    assert search_path(f"{tmp_path / 'alias'}:/usr/bin", shown) == real
