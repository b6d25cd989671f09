from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

import truepenny
from tests.sandbox.inside import make_file, make_folder, make_repository, plan_of
from truepenny.config.settings import SandboxSettings
from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.sandbox.access import folder_access
from truepenny.sandbox.account import account_for
from truepenny.sandbox.baseline import baseline_mounts
from truepenny.sandbox.plan import Mode, Mount, Network, Plan, Profile
from truepenny.sandbox.planning import plan_for


def added(plan: Plan) -> list[tuple[Mode, Path, bool, bool]]:
    """What comes after the system."""
    system = len(baseline_mounts())
    assert plan.mounts[:system] == baseline_mounts()
    return [(m.mode, m.destination, m.protected, m.deny) for m in plan.mounts[system:]]


def test_there_is_no_default_profile() -> None:
    with pytest.raises(TypeError, match="profile"):
        plan_for(  # pyright: ignore[reportCallIssue]
            workspace=Path("/x"), account=None, settings=SandboxSettings()
        )
    with pytest.raises(TypeError, match="profile"):
        Plan(mounts=(), cwd=Path("/"), account=None)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("profile", [Profile.COMMAND, Profile.SERVICE])
@pytest.mark.parametrize("network", list(Network))
def test_a_command_and_a_service_see_the_system_and_the_workspace(
    folder: Path, profile: Profile, network: Network
) -> None:
    plan = plan_of(folder, profile, network=network.value)
    assert added(plan) == [(Mode.WRITE, folder, True, False)]
    assert (plan.profile, plan.network, plan.cwd, plan.masks) == (profile, network, folder, ())


def test_the_tool_server_sees_our_code_as_well(folder: Path) -> None:
    plan = plan_of(folder, Profile.TOOL_SERVER)
    code = [row for row in added(plan) if row[1] != folder]
    assert code
    assert all(row[0] is Mode.READ and row[2] for row in code)
    seen = [row[1] for row in code] + [Path("/usr")]
    for needed in (Path(sys.prefix), Path(sys.base_prefix), Path(truepenny.__file__).parent):
        # What lies in a private place, such as root's home, is not shown to another account.
        shown = any(needed.is_relative_to(path) for path in seen)
        assert shown is folder_access(plan.account, needed).enter, needed


def test_the_system_shows_no_home_and_no_state() -> None:
    for mount in baseline_mounts():
        top = mount.destination.parts[1]
        assert top not in ("home", "root", "var", "run", "sys", "opt", "srv", "mnt")
        assert mount.mode is not Mode.WRITE
    shown = {mount.destination for mount in baseline_mounts()}
    assert not shown & {Path("/etc"), Path("/etc/shadow"), Path("/etc/ssl"), Path("/etc/sudoers")}


def test_limits_come_from_the_settings(folder: Path) -> None:
    limits = plan_of(folder, memory=67_108_864, processes=None, cpu=0.5).limits
    assert (limits.memory, limits.processes, limits.cpu) == (67_108_864, None, 0.5)


def test_the_callers_mounts_come_after_the_workspace(folder: Path) -> None:
    data = make_folder(folder / "data")
    mount = Mount(Mode.READ, data, "data", data)
    assert plan_of(folder, mounts=[mount]).mounts[-1] == mount


def test_read_paths_are_shown_where_they_are_written(folder: Path, tmp_path: Path) -> None:
    real = tmp_path.resolve() / "real"
    real.mkdir()
    link = tmp_path.resolve() / "link"
    link.symlink_to(real)
    plan = plan_of(folder, read_paths=(str(link),))
    (mount,) = (m for m in plan.mounts if m.reason == "sandbox.read_paths")
    assert (mount.mode, mount.destination, mount.source) == (Mode.READ, link, real)


def test_read_paths_never_lead_through_what_a_command_may_turn_into_a_link(
    folder: Path, tmp_path: Path
) -> None:
    make_folder(folder / "data").rename(folder / "moved")
    (folder / "data").symlink_to(tmp_path)
    plan = plan_of(folder, read_paths=(str(folder / "data"), str(folder / "moved")))
    assert [m for m in plan.mounts if m.reason == "sandbox.read_paths"] == []
    (tmp_path / "link").symlink_to(f"{tmp_path}/../{tmp_path.name}/second")
    (tmp_path / "second").symlink_to(folder / "data")
    with pytest.raises(ConfigurationError, match="through the workspace"):
        plan_of(folder, read_paths=(str(tmp_path / "link"),))


@pytest.mark.parametrize("path", ["relative", "/", "/proc", "/sys/fs", "/dev/shm", "/usr/../etc"])
def test_read_paths_that_show_too_much_are_refused(folder: Path, path: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        plan_of(folder, read_paths=(path,))
    assert refused.value.where == "sandbox.read_paths"


def home_with_secrets(tmp_path: Path) -> Path:
    home = tmp_path.resolve() / "home"
    for name in (".ssh", ".config/truepenny", "projects"):
        (home / name).mkdir(parents=True)
    make_file(home / ".netrc", "secret")
    return home


def test_a_broad_path_is_masked_where_secrets_and_our_files_are(
    folder: Path, tmp_path: Path
) -> None:
    home = home_with_secrets(tmp_path)
    plan = plan_of(folder, read_paths=(str(home),), env={"HOME": str(home)})
    # `.config` covers what is ours in it: one in another could not be made.
    assert plan.masks == (home / ".config", home / ".netrc", home / ".ssh")


def test_secrets_behind_a_link_are_masked_where_they_lie(folder: Path, tmp_path: Path) -> None:
    home = home_with_secrets(tmp_path)
    (home / ".ssh").rmdir()
    (home / "projects" / "keys").mkdir()
    (home / ".ssh").symlink_to(home / "projects" / "keys")
    plan = plan_of(folder, read_paths=(str(home),), env={"HOME": str(home)})
    assert home / "projects" / "keys" in plan.masks


def test_a_broad_path_with_another_name_inside_is_masked_there(
    folder: Path, tmp_path: Path
) -> None:
    home = home_with_secrets(tmp_path)
    link = tmp_path.resolve() / "link"
    link.symlink_to(home)
    plan = plan_of(folder, read_paths=(str(link),), env={"HOME": str(home)})
    assert link / ".ssh" in plan.masks


@pytest.mark.parametrize("name", [".ssh", ".config/truepenny", ".netrc"])
def test_a_secret_is_not_shown_even_if_it_is_named(folder: Path, tmp_path: Path, name: str) -> None:
    home = home_with_secrets(tmp_path)
    with pytest.raises(ConfigurationError, match="secrets"):
        plan_of(folder, read_paths=(str(home / name),), env={"HOME": str(home)})


def test_one_thing_of_our_own_may_be_shown_but_never_a_whole_folder(
    folder: Path, tmp_path: Path
) -> None:
    own = tmp_path.resolve() / "own"
    (own / "state" / "run").mkdir(parents=True)
    env = {"HOME": "/nonexistent", "TRUEPENNY_HOME": str(own)}
    mount = Mount(Mode.READ, Path("/run/it"), "a run", own / "state" / "run")
    assert plan_of(folder, mounts=[mount], env=env).mounts[-1] == mount
    with pytest.raises(ConfigurationError, match="lies in"):
        plan_of(folder, mounts=[replace(mount, source=own / "state")], env=env)


def test_a_secret_is_shown_on_our_word_alone(folder: Path, tmp_path: Path) -> None:
    home = home_with_secrets(tmp_path)
    mount = Mount(Mode.READ, Path("/key"), "a key", home / ".ssh")
    with pytest.raises(ConfigurationError, match="lies in"):
        plan_of(folder, mounts=[mount], env={"HOME": str(home)})
    protected = replace(mount, protected=True)
    assert plan_of(folder, mounts=[protected], env={"HOME": str(home)}).mounts[-1] == protected


@pytest.mark.parametrize("path", ["relative", "/a/../b"])
def test_a_place_inside_is_a_plain_path(folder: Path, path: str) -> None:
    with pytest.raises(ValueError, match="plain absolute"):
        plan_of(folder, mounts=[Mount(Mode.EMPTY, Path(path), "odd")])
    with pytest.raises(ValueError, match="plain absolute"):
        plan_of(folder, masks=[Path(path)])


def test_a_mask_over_what_is_needed_is_refused(folder: Path, tmp_path: Path) -> None:
    home = home_with_secrets(tmp_path)
    (home / ".config" / "socket").touch()
    place = home / ".config" / "socket"
    mount = Mount(Mode.READ, place, "a socket", folder, required=True)
    with pytest.raises(ConfigurationError, match="would hide"):
        plan_of(folder, mounts=[mount], read_paths=(str(home),), env={"HOME": str(home)})


def test_a_mask_over_a_protected_mount_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="would hide"):
        plan_of(folder, masks=[folder.parent])


@pytest.mark.parametrize("made", [True, False])
def test_our_own_folders_are_never_inside_the_workspace(folder: Path, made: bool) -> None:
    # Also where nothing is there yet: a command would write our settings before we read them.
    if made:
        (folder / "own" / "config").mkdir(parents=True)
    env = {"HOME": "/nonexistent", "TRUEPENNY_HOME": str(folder / "own")}
    with pytest.raises(ConfigurationError, match="TRUEPENNY_HOME"):
        plan_of(folder, env=env)


def test_temporary_files_never_go_into_the_workspace(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "temporary"))
    with pytest.raises(ConfigurationError, match="TMPDIR"):
        plan_of(folder)


@pytest.mark.parametrize(
    "path", ["/", "/home", "/root", "/etc", "/etc/nginx", "/usr", "/var", "/usr/bin", "/tmp"]
)
def test_a_place_of_the_system_is_no_workspace(folder: Path, path: str) -> None:
    if not Path(path).is_dir():
        path = "/etc"
    with pytest.raises(ConfigurationError, match="belongs to the system"):
        plan_of_path(Path(path))


def plan_of_path(path: Path, env: dict[str, str] | None = None) -> Plan:
    account = replace(account_for(Path("/"), None), uid=65534)
    found = {"HOME": "/nonexistent"} if env is None else env
    return plan_for(Profile.COMMAND, path, account, SandboxSettings(), env=found)


@pytest.mark.parametrize("name", [".ssh", ".aws", ".gnupg", ".config", ".config/tool"])
def test_a_place_of_secrets_is_no_workspace(folder: Path, name: str) -> None:
    (folder / name).mkdir(parents=True)
    with pytest.raises(ConfigurationError, match="keep secrets"):
        plan_of_path(folder / name)


@pytest.mark.parametrize("below", ["", "home"])
def test_a_folder_with_the_secrets_of_a_home_is_no_workspace(folder: Path, below: str) -> None:
    home = folder / below
    (home / ".ssh").mkdir(parents=True)
    with pytest.raises(ConfigurationError, match="it contains"):
        plan_of_path(folder, {"HOME": str(home)})


def test_a_home_without_secrets_may_be_a_workspace(folder: Path) -> None:
    env = {"HOME": str(folder), "TRUEPENNY_HOME": "/nonexistent"}
    assert plan_of_path(folder, env).cwd == folder


@pytest.mark.parametrize("role", ["config", "data", "state", "cache", "run"])
def test_our_own_folders_are_no_workspace(folder: Path, role: str) -> None:
    (folder / role / "below").mkdir(parents=True)
    env = {"HOME": "/nonexistent", "TRUEPENNY_HOME": str(folder)}
    with pytest.raises(ConfigurationError, match="its own files"):
        plan_of_path(folder / role / "below", env)


def test_our_code_is_no_workspace() -> None:
    with pytest.raises(ConfigurationError, match="runs from"):
        plan_of_path(Path(truepenny.__file__).resolve().parent)


def test_a_workspace_behind_a_link_is_refused(folder: Path) -> None:
    make_folder(folder / "real")
    (folder / "link").symlink_to("real")
    with pytest.raises(CouldNotRun, match="is a link"):
        plan_of_path(folder / "link")


def test_a_workspace_that_is_missing_or_a_file_is_refused(folder: Path) -> None:
    with pytest.raises(CouldNotRun, match="is not there"):
        plan_of_path(folder / "none")
    make_file(folder / "file")
    with pytest.raises(ConfigurationError, match="is not a folder"):
        plan_of_path(folder / "file")


def test_a_repository_keeps_what_names_programs(folder: Path) -> None:
    git = make_repository(folder)
    make_folder(folder / ".truepenny")
    make_file(git / "config.worktree")
    make_folder(git / "modules")
    assert added(plan_of(folder))[1:] == [
        (Mode.WRITE, git, False, False),
        (Mode.READ, git / "config", False, True),
        (Mode.READ, git / "hooks", False, True),
        (Mode.READ, git / "config.worktree", False, True),
        (Mode.READ, git / "modules", False, True),
        (Mode.READ, folder / ".truepenny", False, True),
    ]


def test_what_is_missing_is_held_where_git_works_without_it(folder: Path) -> None:
    git = make_folder(folder / ".git")
    assert added(plan_of(folder))[1:] == [
        (Mode.WRITE, git, False, False),
        (Mode.READ, git / "config", False, True),
        (Mode.READ, git / "hooks", False, True),
    ]


def test_a_planted_way_to_other_settings_is_refused(folder: Path) -> None:
    make_file(make_repository(folder) / "commondir", "../planted\n")
    with pytest.raises(CouldNotRun, match="sends git to settings elsewhere"):
        plan_of(folder)


def test_a_repository_that_is_elsewhere_keeps_its_pointer(folder: Path) -> None:
    make_file(folder / ".git", "gitdir: /elsewhere\n")
    assert added(plan_of(folder))[1:] == [(Mode.READ, folder / ".git", False, True)]


@pytest.mark.parametrize("name", [".git", ".git/config", ".git/hooks", ".truepenny"])
def test_a_link_where_something_must_be_held_is_refused(folder: Path, name: str) -> None:
    if "/" in name:
        make_folder(folder / ".git")
    (folder / name).symlink_to("/tmp")
    with pytest.raises(CouldNotRun, match="symbolic link") as refused:
        plan_of(folder)
    assert refused.value.remedy


def test_our_code_in_the_workspace_stays_read_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = folder / "tools" / "environment"
    environment.mkdir(parents=True)
    monkeypatch.setattr("truepenny.sandbox.planning.code_folders", lambda: (environment,))
    monkeypatch.setattr("truepenny.sandbox.blocked.code_folders", lambda: (environment,))
    assert added(plan_of(folder))[1:] == [
        (Mode.WRITE, folder / "tools", False, False),
        (Mode.READ, environment, True, True),
    ]


def test_a_plan_needs_no_rights_of_its_own(folder: Path) -> None:
    before = sorted(os.listdir(folder))
    plan_of(folder)
    assert sorted(os.listdir(folder)) == before
