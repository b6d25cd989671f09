"""The scripts of `gateway-diagnostics`, on a machine that is recorded."""

import shlex
from pathlib import Path

import pytest

from .target import SKILLS, Target, status

FOLDER = SKILLS / "gateway-diagnostics" / "scripts"
SHOW = (FOLDER / "show-gateway.sh").read_text()
PING = (FOLDER / "ping-gateway.sh").read_text()
KNOWN = {"ok", "no_match", "source_error", "not_found"}
LINKS = "1: lo: <UP> mtu 65536\\    link/loopback\n2: eth0@if9: <UP> mtu 1500\n3: ib0: <UP>\n"
ONE = "default via 10.0.0.1 dev eth0 proto dhcp metric 100\n"
MANY = (
    "default proto static metric 10 \\\tnexthop via 10.0.0.1 dev eth0 weight 1 "
    "\\\tnexthop via inet6 fe80::1 dev ib0 weight 1\n"
)
NEIGHBOUR = "10.0.0.1 dev eth0 lladdr 02:00:00:00:00:01 REACHABLE\n"
ANSWERS = "64 bytes from 10.0.0.1\nstatus: ok \x1b[2K\n{} packets transmitted, {} received, x\n"


class Network(Target):
    """A machine whose `ip` answers by its words."""

    def answer(self, **answers: str | None) -> None:
        lines = ["#!/bin/bash", 'case " $* " in']
        for word, answer in answers.items():
            act = "exit 2" if answer is None else f"printf %s {shlex.quote(answer)}"
            lines.append(f"  *' {word} '*) {act};;")
        program = self.folder / "ip"
        program.write_text("\n".join([*lines, "  *) exit 99;;", "esac"]) + "\n")
        program.chmod(0o755)


@pytest.fixture
def network(tmp_path: Path) -> Network:
    target = Network(tmp_path)
    target.answer(link=LINKS, route=ONE, neighbour=NEIGHBOUR)
    return target


def shown(network: Network, arguments: str = "", text: str = SHOW) -> tuple[str, int, str]:
    done = network.run(text, arguments)
    return status(done, KNOWN), done.returncode, done.stdout.decode()


def test_a_gateway_with_its_neighbour(network: Network) -> None:
    said, code, out = shown(network, "--interface eth0")
    assert (said, code) == ("ok", 0)
    assert "| gateway 10.0.0.1 on eth0\n| neighbour 10.0.0.1 dev eth0" in out
    assert "matched: 1\nstatus: ok\n" in out


def test_several_next_hops_of_one_route(network: Network) -> None:
    network.answer(link=LINKS, route=MANY, neighbour="")
    _, _, out = shown(network)
    assert "| gateway 10.0.0.1 on eth0\n" in out
    assert "| gateway fe80::1 on ib0\n" in out
    assert "no entry yet" in out
    _, _, out = shown(network, "--interface ib0")
    assert "on eth0" not in out
    network.answer(link=LINKS, route="default dev ib0 scope link\n", neighbour="")
    assert "gateway none on ib0" in shown(network)[2]


def test_types_of_links(network: Network, tmp_path: Path) -> None:
    system = tmp_path / "sys"
    device = system / "net" / "eth0" / "device" / "infiniband" / "mlx5_0"
    device.mkdir(parents=True)
    (system / "net" / "eth0" / "type").write_text("1\n")
    layer = system / "infiniband" / "mlx5_0" / "ports" / "1" / "link_layer"
    layer.parent.mkdir(parents=True)
    layer.write_text("Ethernet\n")
    text = SHOW.replace("\nSYS=/sys/class\n", f"\nSYS={shlex.quote(str(system))}\n")
    assert text != SHOW
    _, _, out = shown(network, "", text)
    assert "| link eth0: Ethernet\n| rdma on eth0: mlx5_0, Ethernet (RoCE)\n" in out
    network.answer(link=LINKS, route="default via 10.9.0.1 dev ib0\n", neighbour=NEIGHBOUR)
    assert "| link ib0: unknown" in shown(network, "", text)[2]


@pytest.mark.parametrize(
    ("name", "text", "arguments"), [("show", SHOW, ""), ("ping", PING, "--interface eth0")]
)
def test_what_is_not_there(network: Network, name: str, text: str, arguments: str) -> None:
    network.record("ping", ANSWERS.format(4, 4))
    assert shown(network, "--interface nope0", text)[:2] == ("not_found", 4), name
    assert shown(network, "--interface th0", text)[:2] == ("not_found", 4)
    network.answer(link=LINKS, route="", neighbour="")
    assert shown(network, arguments, text)[:2] == ("no_match", 0)
    network.answer(link=LINKS, route=None)
    assert shown(network, arguments, text)[:2] == ("source_error", 5)
    network.answer(link=None)
    assert shown(network, "--interface eth0", text)[:2] == ("source_error", 5)
    (network.folder / "ip").unlink()
    assert shown(network, arguments, text)[:2] == ("source_error", 3)


def test_a_route_without_an_interface_has_no_gateway(network: Network) -> None:
    network.answer(link=LINKS, route="unreachable default metric 4278198272\n", neighbour="")
    said, code, out = shown(network)
    assert (said, code) == ("ok", 0)
    assert "| route unreachable default" in out
    assert "gateway" not in out.split("matched")[0]
    assert shown(network, "--interface eth0")[:2] == ("no_match", 0)


def test_neighbours_that_cannot_be_read_are_not_absent(network: Network) -> None:
    network.answer(link=LINKS, route=ONE, neighbour=None)
    assert shown(network)[:2] == ("source_error", 5)


@pytest.mark.parametrize(
    ("received", "code", "verdict"),
    [(4, 0, "answered all"), (2, 0, "answered some"), (0, 1, "did not answer")],
)
def test_answers_are_counted(network: Network, received: int, code: int, verdict: str) -> None:
    network.record("ping", ANSWERS.format(4, received), code)
    said, ended, out = shown(network, "--interface eth0 --size 8972", PING)
    assert (said, ended) == ("ok", 0)
    assert f"verdict: 10.0.0.1 {verdict}" in out
    assert "| status: ok ?[2K\n" in out
    assert f"scanned: 4\nmatched: {received}\n" in out
    words = ["-4", "-n", "-c", "4", "-W", "2", "-I", "eth0", "-M", "do", "-s", "8972", "10.0.0.1"]
    assert network.words("ping") == words


@pytest.mark.parametrize(("out", "code"), [("", 2), (ANSWERS.format(4, 4), 2), ("nothing\n", 0)])
def test_a_ping_that_fails_is_no_silent_gateway(network: Network, out: str, code: int) -> None:
    network.record("ping", out, code, "ping: socket: Operation not permitted")
    said, ended, text = shown(network, "--interface eth0", PING)
    assert (said, ended) == ("source_error", 5)
    assert "not permitted" not in text


def test_a_missing_ping_is_no_source(network: Network) -> None:
    assert shown(network, "--interface eth0", PING)[:2] == ("source_error", 3)


@pytest.mark.parametrize(
    "arguments", ["eth0", "--interface", "--interface -A", "--interface 'a b'"]
)
@pytest.mark.parametrize("text", [SHOW, PING], ids=["show", "ping"])
def test_wrong_arguments_give_no_report(network: Network, text: str, arguments: str) -> None:
    done = network.run(text, arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"usage:" in done.stderr


@pytest.mark.parametrize("words", ["--count 0", "--count 21", "--size 9001", "--size x", "-f"])
def test_wrong_bounds_of_a_ping(network: Network, words: str) -> None:
    done = network.run(PING, f"--interface eth0 {words}")
    assert (done.returncode, done.stdout) == (2, b"")
    assert network.run(PING, "").returncode == 2


def test_what_both_scripts_share_is_one_text() -> None:
    parts = [
        text[text.index("# --- The same in both") : text.index("# --- End of what")]
        for text in (SHOW, PING)
    ]
    assert parts[0] == parts[1]
