from __future__ import annotations

from pathlib import Path

from tests.sandbox.inside import bwrap, make_file, make_folder, make_repository, plan_of, shell
from truepenny.sandbox.plan import Account, Mode, Mount, Plan, Profile
from truepenny.sandbox.roots import file_roots

ACCOUNT = Account("ada", 1000, 1000, drop=False)
WORK = Path("/work")


def same(mode: Mode, path: str, *, deny: bool = False) -> Mount:
    return Mount(mode, Path(path), "a reason", Path(path), deny=deny)


def plan(*mounts: Mount, masks: tuple[Path, ...] = ()) -> Plan:
    return Plan(Profile.COMMAND, mounts, WORK, ACCOUNT, masks=masks)


def test_reading_and_writing_follow_the_mounts() -> None:
    roots = file_roots(plan(same(Mode.READ, "/usr"), same(Mode.WRITE, "/work")))
    assert roots.readable(Path("/usr/bin/true"))
    assert not roots.writable(Path("/usr/bin/true"))
    assert roots.writable(Path("/work/a/b"))
    assert roots.readable(Path("/work"))
    for outside in ("/", "/etc/shadow", "/workshop", "/usrx"):
        assert not roots.readable(Path(outside))
        assert not roots.writable(Path(outside))


def test_read_only_inside_writable_is_denied_for_writing_alone() -> None:
    roots = file_roots(plan(same(Mode.WRITE, "/work"), same(Mode.READ, "/work/held")))
    assert Path("/work/held") in roots.deny
    assert roots.readable(Path("/work/held/x"))
    assert not roots.writable(Path("/work/held/x"))


def test_writable_inside_read_only_is_writable() -> None:
    roots = file_roots(plan(same(Mode.READ, "/opt"), same(Mode.WRITE, "/opt/work")))
    assert roots.writable(Path("/opt/work/x"))
    assert not roots.writable(Path("/opt/x"))


def test_a_later_mount_covers_what_was_below_it() -> None:
    roots = file_roots(plan(same(Mode.READ, "/work/a"), same(Mode.WRITE, "/work")))
    assert roots.writable(Path("/work/a/x"))
    again = file_roots(plan(same(Mode.WRITE, "/work"), same(Mode.READ, "/work")))
    assert not again.writable(Path("/work/x"))
    assert again.readable(Path("/work/x"))


def test_masks_hide_for_reading_and_writing_whatever_was_mounted() -> None:
    mounts = (same(Mode.READ, "/home"), same(Mode.WRITE, "/home/ada/work"))
    roots = file_roots(plan(*mounts, masks=(Path("/home/ada/.ssh"), Path("/home/ada/work/x"))))
    for path in ("/home/ada/.ssh/key", "/home/ada/work/x"):
        assert not roots.readable(Path(path))
        assert not roots.writable(Path(path))
        assert any(Path(path).is_relative_to(root) for root in roots.deny)
    assert roots.readable(Path("/home/ada/.profile"))


def test_what_is_denied_is_carried_even_if_it_is_absent() -> None:
    roots = file_roots(plan(same(Mode.WRITE, "/work"), same(Mode.READ, "/work/no", deny=True)))
    assert Path("/work/no") in roots.deny
    assert not roots.writable(Path("/work/no/x"))


def test_what_has_another_name_inside_is_not_for_file_tools() -> None:
    elsewhere = Mount(Mode.WRITE, Path("/work/data"), "a reason", Path("/srv/data"))
    roots = file_roots(plan(same(Mode.WRITE, "/work"), elsewhere))
    # A command sees something else at that path than the machine has there.
    assert not roots.readable(Path("/work/data/x"))
    assert not roots.writable(Path("/work/data/x"))
    assert not roots.readable(Path("/srv/data/x"))


def test_an_empty_folder_of_a_command_is_not_the_machines() -> None:
    own = Mount(Mode.EMPTY, Path("/work/tmp"), "a reason")
    roots = file_roots(plan(same(Mode.WRITE, "/work"), own))
    assert not roots.readable(Path("/work/tmp/x"))
    top = file_roots(plan(Mount(Mode.EMPTY, Path("/tmp"), "a reason"), same(Mode.WRITE, "/tmp/w")))
    assert not top.readable(Path("/tmp/x"))
    assert top.writable(Path("/tmp/w/x"))


def test_roots_and_sandbox_agree(folder: Path) -> None:
    make_repository(folder)
    make_file(folder / "file", "x")
    secret = make_folder(folder / "secret")
    make_file(secret / "key", "x")
    of = plan_of(folder, masks=[secret])
    roots = file_roots(of)
    if (sandbox := bwrap(of)) is None:
        return
    for path in ("file", ".git/config", ".git/HEAD", "secret/key"):
        for word, allowed in (("-r", roots.readable), ("-w", roots.writable)):
            inside = shell(sandbox, f"test -f {path} && test {word} {path}").code == 0
            assert inside is allowed(folder / path), (path, word)
    for path in ("new", ".git/new", ".git/hooks/new", "secret/new", "/usr/new", "/etc/new"):
        inside = shell(sandbox, f"touch {path}").code == 0
        assert inside is roots.writable(folder / path), path
