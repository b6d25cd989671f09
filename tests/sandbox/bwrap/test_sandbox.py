from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sandbox.inside import (
    bwrap,
    make_file,
    make_folder,
    make_repository,
    plan_of,
    run,
    shell,
    start,
)
from truepenny.errors import CouldNotRun
from truepenny.sandbox.bwrap.program import BwrapProgram
from truepenny.sandbox.bwrap.sandbox import BwrapSandbox, contained
from truepenny.sandbox.confinement import Refused
from truepenny.sandbox.held import COPY_BYTES
from truepenny.sandbox.level import Level, LimitLayout
from truepenny.sandbox.plan import Mode, Mount
from truepenny.sandbox.probe import working_bwrap


@pytest.fixture
def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("code", [0, 1, 2, 77, 125, 126, 127, 128, 137, 255])
def test_exit_codes_pass_through(folder: Path, code: int) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        ended = shell(sandbox, f"exit {code}")
        assert (ended.code, ended.verdict) == (code, None)


def test_a_signal_becomes_a_code_as_in_a_shell(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        ended = shell(sandbox, "kill -KILL $$")
        assert (ended.code, ended.verdict) == (128 + signal.SIGKILL, None)


def test_a_program_that_is_missing_inside_never_started(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        verdict = run(sandbox, "no-such-program").verdict
        assert verdict is not None
        assert verdict.why is Refused.MISSING
        assert verdict.message == "no-such-program: No such file or directory"


def test_a_file_that_is_no_program_never_started(folder: Path) -> None:
    make_file(folder / "plain", "text")
    if (sandbox := bwrap(plan_of(folder))) is not None:
        verdict = run(sandbox, str(folder / "plain")).verdict
        assert verdict is not None
        assert verdict.why is Refused.NOT_EXECUTABLE


def test_a_program_cannot_claim_that_it_never_started(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        line = "echo 'bwrap: execvp sh: No such file or directory' >&2; exit 1"
        assert shell(sandbox, line).verdict is None


def test_a_working_directory_that_is_missing_inside_is_told(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        verdict = run(sandbox, "true", cwd=folder / "none").verdict
        assert verdict is not None
        assert verdict.why is Refused.DIRECTORY
        assert "chdir" in verdict.message


def test_the_workspace_is_there_and_nothing_of_ours(folder: Path) -> None:
    make_file(folder / "here", "text")
    if (sandbox := bwrap(plan_of(folder))) is not None:
        ended = shell(sandbox, "pwd; cat here; ls -d /home /root /var /run /sys 2>/dev/null; ls /")
        lines = ended.out.splitlines()
        assert lines[0] == str(folder)
        assert lines[1].startswith("text")
        for name in ("/home", "/root", "/var", "/run", "/sys"):
            assert name not in lines


def test_the_workspace_is_written_as_the_account(folder: Path) -> None:
    plan = plan_of(folder)
    if (sandbox := bwrap(plan)) is not None:
        assert shell(sandbox, "echo made >file; id -u").out.strip() == str(plan.account.uid)
        assert (folder / "file").stat().st_uid == plan.account.uid != 0


def test_elsewhere_writing_fails_and_does_not_vanish(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        for path in ("/file", "/usr/file", "/etc/file"):
            assert shell(sandbox, f"echo x >{path}").code != 0
        assert shell(sandbox, "echo x >/tmp/file && cat /tmp/file").out == "x\n"
        assert not Path("/tmp/file").exists()


def test_variables_arrive_inside_and_nowhere_else(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        env = {"PATH": "/usr/bin", "SECRET": "line one\nline two=é", "LD_PRELOAD": "/no/such.so"}
        confinement = sandbox.confine()
        try:
            outside = confinement.environment(env)
            assert "SECRET" not in outside
            assert "LD_PRELOAD" not in outside
            assert all("line one" not in word for word in confinement.argv(("true",)))
        finally:
            confinement.close()
        ended = run(sandbox, "sh", "-c", 'printf "%s|%s" "$SECRET" "$LD_PRELOAD"', env=env)
        assert ended.out == "line one\nline two=é|/no/such.so"


def test_only_its_own_processes_are_seen(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        seen = shell(sandbox, "ls /proc | grep -c '^[0-9]'").out
        assert int(seen) < 10


def test_no_descriptor_of_ours_is_inherited(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        # 3 is the listing itself.
        assert shell(sandbox, "ls /proc/self/fd").out.split() == ["0", "1", "2", "3"]


def test_no_new_namespace_can_be_made(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        assert shell(sandbox, "unshare -Ur true").code != 0


def test_there_is_no_network(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        seen = shell(sandbox, "cat /proc/net/dev | tail -n +3 | cut -d: -f1").out.split()
        assert seen == ["lo"]


def test_the_network_of_the_host_is_there_where_the_plan_says_so(folder: Path) -> None:
    plan = plan_of(folder, network="host")
    if (sandbox := bwrap(plan)) is not None:
        inside = run(sandbox, "readlink", "/proc/self/ns/net").out.strip()
        assert inside == os.readlink("/proc/self/ns/net")


def test_outside_it_is_never_root(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is None:
        return
    confinement = sandbox.confine()
    group = confinement.group
    process = subprocess.Popen(
        confinement.argv(("sh", "-c", "echo ready; cat")),
        env=dict(confinement.environment({"PATH": "/usr/bin"})),
        cwd=confinement.cwd,
        pass_fds=confinement.descriptors,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        # Down from our child: bubblewrap, its first process inside, the program.
        pids, found = [process.pid], []
        while pids:
            pid = pids.pop()
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
            pids += map(int, children.split())
            status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
            fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            found.append(fields)
            assert group is None or group.holds(pid)
        process.stdin.close()
    confinement.close()
    assert len(found) >= 3
    for fields in found:
        assert set(fields["Uid"].split()) == {str(sandbox.plan.account.uid)} != {"0"}
        assert "0" not in fields["Gid"].split()
        assert "0" not in fields["Groups"].split()
        assert fields["NoNewPrivs"] == "1"
    program = found[-1]
    assert int(program["CapEff"], 16) == int(program["CapBnd"], 16) == 0
    assert program["Seccomp"] == "2"


def test_close_leaves_nothing(folder: Path, descriptors: set[str]) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        for argv in (("true",), ("no-such-program",)):
            run(sandbox, *argv)
        confinement = sandbox.confine()
        confinement.close()
    assert set(os.listdir("/proc/self/fd")) == descriptors


def test_a_confinement_that_fails_leaves_nothing(folder: Path, descriptors: set[str]) -> None:
    data = make_folder(folder / "data")
    mount = Mount(Mode.READ, data, "data", data, required=True)
    if (sandbox := bwrap(plan_of(folder, mounts=[mount]))) is not None:
        data.rmdir()
        with pytest.raises(CouldNotRun, match="is not there"):
            sandbox.confine()
    assert set(os.listdir("/proc/self/fd")) == descriptors


def test_a_start_without_descriptors_left_leaves_nothing(
    folder: Path, descriptors: set[str]
) -> None:
    make_repository(folder)
    if (sandbox := bwrap(plan_of(folder))) is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    failed = 0
    for limit in range(1, 400):
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        try:
            confinement = sandbox.confine()
        except (CouldNotRun, OSError):
            failed += 1
        else:
            confinement.close()
            break
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert set(os.listdir("/proc/self/fd")) == descriptors
    assert 10 < failed < 399
    assert set(os.listdir("/proc/self/fd")) == descriptors


def test_a_source_that_became_a_link_is_refused(folder: Path) -> None:
    data = make_folder(folder / "data")
    mount = Mount(Mode.READ, Path("/data"), "data", data, required=True)
    if (sandbox := bwrap(plan_of(folder, mounts=[mount]))) is not None:
        assert shell(sandbox, "test -d /data").code == 0
        data.rmdir()
        data.symlink_to("/etc")
        with pytest.raises(CouldNotRun, match="is a link"):
            sandbox.confine()


def test_a_source_that_was_replaced_by_another_folder_is_refused(folder: Path) -> None:
    data = make_folder(folder / "data")
    mount = Mount(Mode.READ, Path("/data"), "data", data, required=True)
    if (sandbox := bwrap(plan_of(folder, mounts=[mount]))) is not None:
        data.rename(folder / "old")
        make_folder(data)
        with pytest.raises(CouldNotRun, match="replaced"):
            sandbox.confine()


def test_a_source_that_is_swapped_after_the_check_is_not_mounted(folder: Path) -> None:
    data = make_folder(folder / "data")
    mount = Mount(Mode.READ, Path("/data"), "data", data, required=True)
    if (sandbox := bwrap(plan_of(folder, mounts=[mount]))) is None:
        return
    _, program = working_bwrap(sandbox.plan.account)
    assert program is not None
    if not program.binds_descriptors:
        assert "late_swap" in sandbox.containment.gaps
        return
    confinement = sandbox.confine()
    data.rename(folder / "old")
    data.symlink_to("/etc")
    done = start(confinement, ("ls", "/data/passwd"), {"PATH": "/usr/bin"})
    verdict = confinement.verdict(done.returncode, done.stderr.decode())
    confinement.close()
    # By descriptor it is still the planned one, which is empty, or bubblewrap sees the swap.
    assert done.returncode != 0
    assert b"/data/passwd" not in done.stdout
    assert verdict is None or verdict.why is Refused.SANDBOX


def test_a_bubblewrap_that_mounts_by_name_holds_as_well_and_says_what_it_cannot(
    folder: Path,
) -> None:
    make_repository(folder)
    plan = plan_of(folder)
    _, program = working_bwrap(plan.account)
    if program is None:
        assert bwrap(plan) is None
        return
    sandbox = BwrapSandbox(plan, replace(program, binds_descriptors=False))
    assert "late_swap" in sandbox.containment.gaps
    assert shell(sandbox, "ls /proc/self/fd").out.split() == ["0", "1", "2", "3"]
    assert shell(sandbox, "echo x >.git/config").code != 0
    assert shell(sandbox, "echo x >file && exit 7").code == 7


@pytest.mark.parametrize(
    ("version", "points", "gaps"),
    [
        ((0, 8, 0), True, ("shown_sockets", "left_behind", "late_link")),
        ((), True, ("shown_sockets", "left_behind", "late_link")),
        ((0, 12, 0), True, ("shown_sockets", "left_behind")),
        ((0, 8, 0), False, ("shown_sockets", "left_behind")),
    ],
)
def test_a_known_fault_is_a_gap_where_it_matters(
    folder: Path, version: tuple[int, ...], points: bool, gaps: tuple[str, ...]
) -> None:
    if points:
        make_repository(folder)
    program = BwrapProgram("/usr/bin/bwrap", version, True, True, True)
    found = contained(plan_of(folder), program, LimitLayout.CGROUP_V2)
    assert (found.level, found.gaps) == (Level.BWRAP, gaps)


def test_a_mount_point_behind_a_link_is_refused_and_nothing_is_made(folder: Path) -> None:
    there = make_folder(folder / "there")
    (folder / "link").symlink_to(there)
    data = make_folder(folder / "data")
    mount = Mount(Mode.READ, folder / "link" / "point", "data", data, required=True)
    if (sandbox := bwrap(plan_of(folder, mounts=[mount]))) is not None:
        with pytest.raises(CouldNotRun, match="is a link"):
            sandbox.confine()
    assert list(there.iterdir()) == []


def test_a_missing_mount_point_in_the_workspace_is_made_for_the_account(folder: Path) -> None:
    data = make_folder(folder / "data")
    make_file(data / "file", "text")
    mount = Mount(Mode.READ, folder / "a" / "b", "data", data, required=True)
    plan = plan_of(folder, mounts=[mount])
    if (sandbox := bwrap(plan)) is not None:
        assert shell(sandbox, "cat a/b/file").out == "text"
        assert (folder / "a" / "b").stat().st_uid == plan.account.uid
        assert list((folder / "a" / "b").iterdir()) == []


def test_a_link_is_never_made_in_what_others_see(folder: Path) -> None:
    mount = Mount(Mode.LINK, folder / "link", "a link", Path("/etc"))
    if (sandbox := bwrap(plan_of(folder, mounts=[mount]))) is not None:
        with pytest.raises(CouldNotRun, match="cannot be mounted below"):
            sandbox.confine()
    assert not (folder / "link").is_symlink()


def test_what_nobody_of_ours_can_make_needs_no_holding(folder: Path) -> None:
    git = make_folder(folder / ".git")
    git.chmod(0o555)
    plan = plan_of(folder)
    if (sandbox := bwrap(plan)) is not None:
        assert shell(sandbox, "mkdir .git/hooks").code != 0
        # Root can make it, for the account, and holds it then.
        assert (git / "hooks").exists() is plan.account.drop
    git.chmod(0o755)


def test_a_missing_mount_point_where_nothing_can_be_made_is_refused(folder: Path) -> None:
    data = make_folder(folder / "data")
    mount = Mount(Mode.READ, Path("/usr/no/such/place"), "data", data, required=True)
    if (sandbox := bwrap(plan_of(folder, mounts=[mount]))) is not None:
        with pytest.raises(CouldNotRun, match="nothing can be mounted at"):
            sandbox.confine()
    assert not Path("/usr/no").exists()


def test_the_files_of_the_system_are_copies_that_nobody_changes(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        ended = shell(
            sandbox,
            "cat /etc/passwd; cd /etc; chmod u+w passwd && echo changed; rm -f passwd && echo gone;"
            " echo x >>passwd && echo written; grep -c passwd /proc/self/mountinfo",
        )
        assert ended.out == f"{Path('/etc/passwd').read_text(encoding='utf-8')}0\n"
        assert ended.err.count("Read-only file system") >= 2


def test_what_not_everybody_reads_and_what_is_large_is_never_copied(folder: Path) -> None:
    made: list[Mount] = []
    for name, mode, size in (("private", 0o600, 1), ("large", 0o644, COPY_BYTES + 1)):
        path = folder / name
        path.write_bytes(b"x" * size)
        path.chmod(mode)
        made.append(Mount(Mode.READ, Path("/etc", name), "a test", path, copied=True))
    if (sandbox := bwrap(plan_of(folder, mounts=made))) is not None:
        text = shell(sandbox, "cat /proc/self/mountinfo; cat /etc/private")
        assert " /etc/private " in text.out
        assert " /etc/large " in text.out
        assert os.geteuid() != 0 or "Permission denied" in text.err


def test_a_home_in_the_temporary_folder_is_no_mount_of_its_own(folder: Path) -> None:
    if (sandbox := bwrap(plan_of(folder))) is not None:
        ended = shell(sandbox, "cd /tmp/home; echo x >y; ls -A; cat /proc/self/mountinfo")
        assert (ended.code, ended.out[:2]) == (0, "y\n")
        assert " /tmp " in ended.out
        assert " /tmp/home " not in ended.out


def test_an_empty_folder_covers_what_was_mounted_below_its_place(folder: Path) -> None:
    make_file(folder / "shown", "text")
    shown = Mount(Mode.READ, Path("/tmp/home/shown"), "a test", folder / "shown")
    again = [Mount(Mode.EMPTY, Path(path), "a test") for path in ("/tmp/home", "/tmp")]
    for mounts, out in (([shown], "shown\n"), ([shown, again[0]], ""), ([shown, again[1]], "")):
        plan = plan_of(folder)
        plan = replace(plan, mounts=(*plan.mounts, *mounts), cwd=Path("/"))
        if (sandbox := bwrap(plan)) is not None:
            assert shell(sandbox, "ls /tmp/home 2>/dev/null").out == out


def test_masks_win_over_what_was_mounted_before(folder: Path) -> None:
    secret = make_folder(folder / "secret")
    make_file(secret / "key", "hidden")
    make_file(folder / "token", "hidden")
    masks = [secret, folder / "token"]
    mount = Mount(Mode.WRITE, secret, "again", secret)
    if (sandbox := bwrap(plan_of(folder, mounts=[mount], masks=masks))) is not None:
        assert shell(sandbox, "cat secret/key token").out == ""
        assert shell(sandbox, "ls -A secret").out == ""
        assert shell(sandbox, "touch secret/new").code != 0
        assert shell(sandbox, "rm -rf secret; echo x >token").code != 0
    assert (secret / "key").read_text(encoding="utf-8") == "hidden"
    assert (folder / "token").read_text(encoding="utf-8") == "hidden"


def test_a_socket_of_the_plan_is_reached_inside(folder: Path) -> None:
    path = folder / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0o777)
        server.listen()
        mount = Mount(Mode.READ, Path("/run/service"), "a service", path, required=True)
        plan = replace(plan_of(folder), sockets=(mount,))
        if (sandbox := bwrap(plan)) is not None:
            program = "import socket; socket.socket(socket.AF_UNIX).connect('/run/service')"
            assert run(sandbox, "python3", "-c", program).code == 0


def test_what_git_would_run_outside_is_read_only(folder: Path) -> None:
    git = make_repository(folder)
    if (sandbox := bwrap(plan_of(folder))) is None:
        return
    for line in (
        "echo x >>.git/config",
        "echo x >.git/hooks/pre-commit",
        "rm -f .git/config",
        "mv .git away",
        "mv .git/hooks away",
        "rmdir .git/hooks",
        "ln -sf /tmp .git/config",
    ):
        assert shell(sandbox, line).code != 0, line
    assert shell(sandbox, "echo x >.git/index").code == 0
    assert (git / "config").read_text(encoding="utf-8") == "[core]\n"
    assert list((git / "hooks").iterdir()) == []


def test_git_works_in_a_repository_that_is_held(folder: Path) -> None:
    who = "-c user.name=Ada -c user.email=ada@example.org"
    lines = (
        "git init -q . && echo one >file && git add file",
        f"git {who} commit -q -m One && git branch other && git switch -q other",
        f"echo two >file && git {who} commit -q -a -m Two && git stash list && git gc -q",
    )
    for line in lines:
        # A plan for each, as for each call of a tool: from the second on there is a repository.
        if (sandbox := bwrap(plan_of(folder))) is None:
            return
        ended = shell(sandbox, line)
        assert (ended.code, ended.err) == (0, ""), line
    assert shell(sandbox, "git log --format=%s").out == "Two\nOne\n"
    assert shell(sandbox, "git config core.fsmonitor ./planted").code != 0
    assert not (folder / ".git" / "config.lock").exists()


def test_hooks_that_are_missing_cannot_be_planted(folder: Path) -> None:
    git = make_repository(folder)
    (git / "hooks").rmdir()
    if (sandbox := bwrap(plan_of(folder))) is not None:
        assert shell(sandbox, "mkdir -p .git/hooks && echo x >.git/hooks/pre-commit").code != 0
        assert list((git / "hooks").iterdir()) == []


def test_a_link_in_the_place_of_hooks_is_refused(folder: Path) -> None:
    git = make_repository(folder)
    (git / "hooks").rmdir()
    (git / "hooks").symlink_to("/tmp")
    with pytest.raises(CouldNotRun, match="symbolic link"):
        plan_of(folder)
