from __future__ import annotations

import pytest

from truepenny.demo.host.machine import Machine, Recorded, read_machines, reply
from truepenny.demo.world import World
from truepenny.diagnose.host.remote_shell import MarkFilter, end_words, read_ended, run_words
from truepenny.errors import ConfigurationError

PIPED = Recorded("3\n", code=0, stages=(0, 0))
DOWN = Recorded("inactive\n", "hint\n", 3)
BOX = Machine("box", "10.9.9.9", answers={"systemctl is-active x": DOWN, "ls / | wc -l": PIPED})


def test_a_recorded_line_is_answered_however_it_is_spaced() -> None:
    assert reply(BOX, "systemctl   is-active x") == (b"inactive\n", b"hint\n", 3)
    assert reply(BOX, "hostname") == (b"box\n", b"", 0)
    assert reply(BOX, "echo ok") == (b"ok\n", b"", 0)


@pytest.mark.parametrize(
    "line", ["df -h", "echo $HOME", "echo a; id", "systemctl is-active xy", "'"]
)
def test_an_unknown_line_ends_with_127_and_says_so(line: str) -> None:
    out, err, code = reply(BOX, line)
    assert (out, code) == (b"", 127)
    assert err.decode() == f"practice host box (a simulator): no recorded answer for: {line}\n"


def test_our_own_client_gets_its_marks() -> None:
    token = "0123456789abcdef"
    out, err, code = reply(BOX, run_words(token, "ls / | wc -l"))
    marks = MarkFilter(token)
    assert (out, marks.feed(err) + marks.finish(), code) == (b"3\n", b"", 0)
    assert (marks.session, marks.shell, marks.left) == (0, "bash", False)
    assert marks.statuses == (0, 0, 0)
    out, _, code = reply(BOX, end_words(token, 0))
    assert (read_ended(token, out.decode()).state, code) == ("gone", 0)


def test_what_a_machine_says_agrees_with_the_cluster() -> None:
    world = World.load("node-disk-pressure")
    bastion, worker = world.hosts
    assert (worker.jump, worker.address) == (bastion.name, "10.0.0.11")
    evicted = world.find("Pod/shop/catalog[0]")["metadata"]["name"]
    assert evicted in worker.answer("journalctl -u kubelet -n 5 --no-pager").stdout
    assert "{" not in "".join(one.stdout for one in worker.answers.values())
    assert World.load("healthy").hosts == ()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"host": []}, "unknown hosts key"),
        ({"hosts": [{"name": "a", "address": "x", "commnd": []}]}, "unknown host key"),
        ({"hosts": [{"name": "a", "address": "x", "command": [{"lines": ""}]}]}, "host command"),
        ({"hosts": [{"name": "a", "address": "x", "jump": "b"}]}, "no machine before it"),
        ({"hosts": [{"name": "a", "address": "x"}, {"name": "b", "address": "x"}]}, "twice"),
    ],
)
def test_a_file_that_does_not_read_is_refused(table: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        read_machines(table, str)
