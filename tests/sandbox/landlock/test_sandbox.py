from __future__ import annotations

import os
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.sandbox.inside import (
    ENV,
    make_file,
    make_folder,
    make_repository,
    plan_of,
    run,
    shell,
)
from tests.sandbox.landlock.held import landlock
from truepenny.errors import CouldNotRun
from truepenny.sandbox.choice import open_sandbox
from truepenny.sandbox.confinement import Confinement, Refused
from truepenny.sandbox.drop import drop_words
from truepenny.sandbox.landlock import sandbox as module
from truepenny.sandbox.landlock.ruleset import SCOPED, version
from truepenny.sandbox.plan import Network

HOME_AND_TEMPORARY = {**ENV, "TMPDIR": "/tmp", "HOME": "/tmp/home"}


def test_work_in_the_workspace_goes_on(folder: Path) -> None:
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return
    line = (
        "set -e; mkdir -p a/b; echo text > a/b/one; mv a/b/one two; ln -s two three; cat three; "
        "ln two four; rm four; printf x >> two; : > two; chmod 700 two; mkfifo pipe; "
        "cat <<E | wc -c\nabc\nE\npwd; echo done >/dev/null"
    )
    done = run(sandbox, "bash", "-c", line)
    assert (done.code, done.err) == (0, "")
    assert done.out.split() == ["text", "4", str(folder)]
    assert (folder / "two").stat().st_mode & 0o777 == 0o700


OUTSIDE = (
    "cat {outside}/secret",
    "echo x > {outside}/secret",
    "echo x >> {outside}/secret",
    "truncate -s 0 {outside}/secret",
    "echo x > {outside}/new",
    "mkdir {outside}/new",
    "mkfifo {outside}/new",
    "rm {outside}/secret",
    "rmdir {outside}/folder",
    "mv {outside}/secret stolen",
    "mv {outside}/secret {outside}/new",
    "touch mine && mv mine {outside}/new",
    "touch mine && ln mine {outside}/new",
    "ln {outside}/secret stolen",
    "ln -s {outside}/secret link && cat link",
    "ln -s {outside} link && echo x > link/new",
    "ls {outside}",
    "ls /tmp",
    "cp -r {outside} stolen",
    "cd {outside} && cat secret",
    "cat $PWD/../$(basename {outside})/secret",
    "{outside}/program",
    "ls /home",
    "ls /var",
    "ls /sys",
    "cat /proc/1/cmdline",
    "cat /proc/self/environ",
    "cat /proc/$$/status",
    "cat /proc/$PPID/cmdline",
    "ls /dev",
    "ls /dev/shm",
    "touch /dev/shm/truepenny-test-x && rm /dev/shm/truepenny-test-x",
    "cp /bin/true t && chmod 4755 t",
    "cp /bin/true t && chmod u+s t",
)


@pytest.fixture
def program(outside: Path) -> Path:
    made = make_file(outside / "program", "#!/bin/sh\necho ran\n")
    made.chmod(0o755)
    return made


@pytest.mark.parametrize("line", OUTSIDE)
def test_outside_nothing_is_reached(folder: Path, outside: Path, program: Path, line: str) -> None:
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return
    before = sorted(os.listdir(outside))
    done = shell(sandbox, line.format(outside=outside))
    assert done.code != 0
    assert done.verdict is None
    assert "of-the-person" not in done.out
    assert "ran" not in done.out
    assert sorted(os.listdir(outside)) == before
    assert (outside / "secret").read_text(encoding="utf-8") == "of-the-person"


@pytest.mark.parametrize("line", OUTSIDE)
def test_without_walls_the_same_lines_work(
    folder: Path, outside: Path, program: Path, line: str
) -> None:
    # Or the test above would pass for a reason that has nothing to do with them.
    done = shell(open_sandbox(plan_of(folder), "none"), line.format(outside=outside))
    assert (done.code, done.err) == (0, "")


def test_what_is_about_the_machine_can_be_read(folder: Path) -> None:
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return
    line = (
        "cat /proc/meminfo /proc/cpuinfo /proc/sys/kernel/ostype && head -c4 /dev/urandom | wc -c"
    )
    done = shell(sandbox, line)
    assert (done.code, done.err) == (0, "")


def test_nothing_of_root_is_left(folder: Path) -> None:
    plan = plan_of(folder)
    sandbox = landlock(plan)
    if sandbox is None:
        return
    confinement = sandbox.confine()
    with ThreadPoolExecutor(1) as thread:
        process = thread.submit(waiting, confinement).result()
    assert process.stdout is not None
    # The line comes from the program, so all our own words are done.
    process.stdout.readline()
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    listed = subprocess.run(
        [*drop_words(plan.account), "ls", f"/proc/{process.pid}/fd"],
        capture_output=True,
        text=True,
        check=True,
    )
    process.communicate()
    confinement.close()
    uid, gid = plan.account.uid, plan.account.gid
    assert fields["Uid"].split() == [str(uid)] * 4
    assert fields["Gid"].split() == [str(gid)] * 4
    assert fields["NoNewPrivs"] == "1"
    assert fields["Seccomp"] == "2"
    assert {fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
    if plan.account.drop:
        assert fields["CapBnd"] == "0" * 16
        assert fields["Groups"].split() == []
    assert listed.stdout.split() == ["0", "1", "2"]


def waiting(confinement: Confinement) -> subprocess.Popen[str]:
    """Start a program that says a line and waits for the end of its input."""
    assert confinement.before_start is not None
    confinement.before_start()
    return subprocess.Popen(
        confinement.argv(("sh", "-c", "echo here; read -r line")),
        env=dict(confinement.environment(ENV)),
        cwd=confinement.cwd,
        pass_fds=confinement.descriptors,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_temporary_files_are_the_starts_own_and_gone_at_its_end(folder: Path) -> None:
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return
    line = (
        'echo x > "$TMPDIR/file"; cat "$TMPDIR/file"; ls -A "$HOME"; echo "$TMPDIR" "$HOME"; '
        'mkdir -p "$TMPDIR/a/b" && chmod 0 "$TMPDIR/a/b" "$TMPDIR/a" "$TMPDIR"'
    )
    places = set[str]()
    for _ in range(2):
        done = run(sandbox, "sh", "-c", line, env=HOME_AND_TEMPORARY)
        assert (done.code, done.err) == (0, "")
        text, paths = done.out.splitlines()
        assert text == "x"
        temporary, home = paths.split()
        assert home == f"{temporary}/home"
        assert not Path(temporary).parent.exists()
        places.add(temporary)
    assert len(places) == 2


def test_a_value_that_is_no_path_of_a_folder_of_its_own_stays(folder: Path) -> None:
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return
    env = {**ENV, "A": "tmp", "B": "x /tmp", "C": "/tmpfile", "D": str(folder), "E": "/etc"}
    done = run(sandbox, "sh", "-c", 'echo "$A|$B|$C|$D|$E"', env=env)
    assert done.out == f"tmp|x /tmp|/tmpfile|{folder}|/etc\n"


def test_git_goes_on_without_the_machines_configuration(folder: Path) -> None:
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return
    line = (
        "git init -q new && cd new && echo x > one && git add one && "
        "git -c user.name=n -c user.email=e commit -qm m && git status --short && git rev-list HEAD"
    )
    done = run(sandbox, "sh", "-c", line, env=HOME_AND_TEMPORARY)
    assert (done.code, done.err) == (0, "")
    assert len(done.out.split()) == 1


def test_exit_codes_and_signals_pass(folder: Path) -> None:
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return
    for code in (0, 1, 2, 125, 126, 127, 128, 255):
        done = shell(sandbox, f"exit {code}")
        assert (done.code, done.verdict) == (code, None)
    done = shell(sandbox, "kill -9 $$")
    assert (done.code, done.verdict) == (-9, None)


def test_a_program_that_cannot_start_is_told_from_one_that_failed(folder: Path) -> None:
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return
    plain = make_file(folder / "plain", "text")
    missing, refused = run(sandbox, "there-is-none"), run(sandbox, str(plain))
    assert missing.verdict is not None
    assert missing.verdict.why is Refused.MISSING
    assert "there-is-none" in missing.verdict.message
    assert refused.verdict is not None
    assert refused.verdict.why is Refused.NOT_EXECUTABLE
    assert "truepenny-start" not in missing.verdict.message + refused.verdict.message


def test_hidden_paths_below_one_that_may_be_read(folder: Path, outside: Path) -> None:
    make_folder(outside / "folder/inner")
    make_file(outside / "folder/inner/hidden", "of-the-person")
    make_file(outside / "folder/seen", "for-all")
    plan = plan_of(
        folder,
        masks=[outside / "folder/inner", outside / "secret"],
        read_paths=[str(outside)],
    )
    sandbox = landlock(plan)
    if sandbox is None:
        return
    assert shell(sandbox, f"cat {outside}/folder/seen").out == "for-all"
    for line in ("cat folder/inner/hidden", "cat secret", "ls folder/inner", "ls ."):
        done = shell(sandbox, f"cd {outside} && {line}")
        assert (done.out, done.code != 0) == ("", True)


def test_nothing_can_be_hidden_where_one_may_write(folder: Path) -> None:
    make_file(folder / "secret")
    sandbox = landlock(plan_of(folder, masks=[folder / "secret"]))
    if sandbox is not None:
        with pytest.raises(CouldNotRun, match="may be written"):
            sandbox.confine()


def test_a_proxy_needs_a_network_of_its_own(folder: Path) -> None:
    plan = plan_of(folder, network="proxy")
    assert plan.network is Network.PROXY
    sandbox = landlock(plan)
    if sandbox is not None:
        with pytest.raises(CouldNotRun) as refused:
            sandbox.confine()
        assert "bwrap" in refused.value.remedy


def test_a_workspace_that_was_replaced_is_not_taken_for_the_planned_one(folder: Path) -> None:
    inner = make_folder(folder / "workspace")
    sandbox = landlock(plan_of(inner))
    if sandbox is None:
        return
    inner.rename(folder / "old")
    make_folder(inner)
    with pytest.raises(CouldNotRun, match="replaced"):
        sandbox.confine()
    inner.rmdir()
    inner.symlink_to("/")
    with pytest.raises(CouldNotRun, match="link"):
        sandbox.confine()


def test_what_it_cannot_stop_is_said(folder: Path, outside: Path) -> None:
    make_repository(folder)
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return
    confinement = sandbox.confine()
    confinement.close()
    found = confinement.containment
    assert {"attributes", "protected_paths", "scheduling"} <= set(found.gaps)
    assert "socket_files" not in found.gaps
    assert ("signals" in found.gaps) == (version() < SCOPED)
    # They are true, not precautions.
    assert shell(sandbox, f"stat -c %s {outside}/secret").out == "13\n"
    assert shell(sandbox, f"chmod 600 {outside}/secret").code == 0
    assert shell(sandbox, "echo x > .git/hooks/pre-commit").code == 0


def test_an_older_kernel_has_more_gaps_or_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return
    monkeypatch.setattr(module, "version", lambda: 4)
    confinement = sandbox.confine()
    confinement.close()
    assert "signals" in confinement.containment.gaps
    assert shell(sandbox, "echo x").out == "x\n"
    for older in (0, 1, 3):
        monkeypatch.setattr(module, "version", lambda found=older: found)
        with pytest.raises(CouldNotRun, match="Landlock"):
            sandbox.confine()


def test_a_start_leaves_nothing_behind(folder: Path) -> None:
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return

    def all_of_it() -> tuple[set[str], set[str]]:
        ours = {name for name in os.listdir("/tmp") if name.startswith("truepenny-sandbox-")}
        return set(os.listdir("/proc/self/fd")), ours

    sandbox.confine().close()
    before = all_of_it()
    assert shell(sandbox, "true").code == 0
    sandbox.confine().close()
    refused = landlock(plan_of(folder, masks=[folder / "x"]))
    assert refused is not None
    with pytest.raises(CouldNotRun):
        refused.confine()
    assert all_of_it()[0] == before[0]
    group = sandbox.confine()
    directories = () if group.group is None else group.group.directories
    group.close()
    assert not any(os.path.lexists(path) for path in directories)


def test_the_thread_that_starts_it_is_the_only_one_held(folder: Path, outside: Path) -> None:
    sandbox = landlock(plan_of(folder))
    if sandbox is None:
        return
    assert shell(sandbox, "true").code == 0
    assert os.listdir("/proc")
    assert (outside / "secret").read_text(encoding="utf-8")
    socket.create_server(("127.0.0.1", 0)).close()
