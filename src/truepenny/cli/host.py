"""`truepenny host`: the machines that are reached over SSH, and whether they are."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from . import complete
from .failure import COULD_NOT_RUN, Finished
from .interruptible import run as run_interruptible
from .place import practice
from .terminal import Progress, json_text, plain, table
from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.diagnose.host.host import Host, Hosts
    from truepenny.diagnose.host.known_hosts import KnownKey
    from truepenny.diagnose.host.probe import Probe


_demo_option = click.option(
    "--demo",
    metavar="INCIDENT",
    shell_complete=complete.incident,
    help="The simulated hosts of this incident instead, such as node-disk-pressure.",
)


@contextmanager
def _hosts(bench: Workbench, demo: str | None) -> Generator[Hosts]:
    """Return the hosts of the settings, or those of an incident while the context is open."""
    if demo is None:
        yield bench.hosts()
        return
    with practice(bench, demo) as made:
        click.echo(f"truepenny: {made.notice}", err=True)
        yield made.hosts


@click.group(epilog="Example: truepenny host test web-1")
def host() -> None:
    """List the hosts of the settings, dial one, or forget the key it is known by."""


@host.command("list", epilog="Example: truepenny host list --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@_demo_option
def list_hosts(as_json: bool, demo: str | None) -> None:
    """List the hosts, with what stands in the way of dialling them. None is dialled."""
    bench = Workbench()
    with _hosts(bench, demo) as hosts:
        _list(bench, hosts, as_json)


def _list(bench: Workbench, hosts: Hosts, as_json: bool) -> None:
    from truepenny.diagnose.host.host_list import entry

    if as_json:
        rows = [
            entry(one)
            | {"host_key": None if (key := _known(bench, hosts, one)) is None else str(key)}
            for one in hosts
        ]
        click.echo(json_text({"hosts": rows}))
        return
    cells = [
        (
            one.name,
            one.place,
            one.entry.user,
            one.entry.auth,
            one.jump or "",
            _state(one, _known(bench, hosts, one)),
        )
        for one in hosts
    ]
    table(("HOST", "ADDRESS", "USER", "AUTH", "JUMP", "STATE"), cells, sys.stdout)


@host.command(epilog="Example: truepenny host test web-1")
@click.argument("name", shell_complete=complete.host)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@_demo_option
def test(name: str, as_json: bool, demo: str | None) -> None:
    """Dial NAME, through its jump hosts, and let it run `echo ok`; exit 5 if it does not.

    The first time a host is reached, its key is kept; from then on it must show the same one.
    """
    from truepenny.diagnose.host.probe import bound, probe

    bench = Workbench()
    with _hosts(bench, demo) as hosts:
        one = bound(hosts, name)
        progress = Progress()
        progress.show(f"dialling {name} …")
        try:
            found = run_interruptible(probe, hosts, one, bench.user)
        finally:
            progress.clear()
    if as_json:
        click.echo(json_text(found.to_json()))
    elif found.failure is not None:
        raise found.failure
    else:
        click.echo(plain(_answered(found)))
    raise Finished(0 if found.failure is None else COULD_NOT_RUN)


@host.command(epilog="Example: truepenny host forget web-1")
@click.argument("name", shell_complete=complete.host)
def forget(name: str) -> None:
    """Forget the key that NAME is known by; the next one it shows is trusted."""
    from truepenny.diagnose.host.probe import bound

    bench = Workbench()
    hosts = bench.hosts()
    one = bound(hosts, name)
    assert hosts.known is not None, "the settings' hosts come with their keys"
    identity = hosts.identity(one)
    old = run_interruptible(hosts.known.forget, bench.user, identity)
    if old is None:
        click.echo(f"no key of {name} ({identity}) was known")
    else:
        click.echo(f"forgot {name} ({identity}): {old}, known since {old.first_seen}")


def _known(bench: Workbench, hosts: Hosts, one: Host) -> KnownKey | None:
    assert hosts.known is not None, "the settings' hosts come with their keys"
    return hosts.known.get(bench.user, hosts.identity(one))


def _state(one: Host, known: KnownKey | None) -> str:
    if problem := one.problem:
        return problem
    return "never reached" if known is None else f"known since {known.first_seen}"


def _answered(found: Probe) -> str:
    lines = [f"{found.host.name}: ok in {found.seconds:.2f} s, {found.key}"]
    if len(found.way) > 1:
        lines.append(f"  by way of {', '.join(found.way[:-1])}")
    if found.first_use:
        lines.append(
            f"  reached for the first time, trusted from now on: {', '.join(found.first_use)}"
        )
    return "\n".join(lines)
