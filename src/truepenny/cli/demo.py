"""`truepenny demo`: the practice cluster as a server for your own kubectl."""

from __future__ import annotations

import sys

import click

from . import complete
from .terminal import json_text, style, table


def _list(as_json: bool) -> None:
    from truepenny.demo.world import scenarios

    found = scenarios()
    if as_json:
        rows = [
            {
                "name": one.name,
                "title": one.title,
                "question": one.question,
                "summary": one.summary,
                "tags": list(one.tags),
            }
            for one in found
        ]
        click.echo(json_text({"incidents": rows}))
        return
    cells = [(one.name, one.title, one.question) for one in found]
    table(("INCIDENT", "TITLE", "ASK"), cells, sys.stdout)


@click.command(epilog="Example: truepenny demo checkout-oom --fault slow:2s:pods/log")
@click.argument("incident", required=False, shell_complete=complete.incident)
@click.option("--list", "only_list", is_flag=True, help="List the incidents and end.")
@click.option("--json", "as_json", is_flag=True, help="With --list: print one JSON object.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 is any free one.")
@click.option(
    "--pods", type=int, metavar="N", help="Make the cluster larger: N pods in all, such as 5000."
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="FAULT",
    help="Make something fail: slow:2s, status:403:pods/log, status:500:0.3, cut:logs, …",
)
def demo(
    incident: str | None,
    only_list: bool,
    as_json: bool,
    port: int,
    pods: int | None,
    faults: tuple[str, ...],
) -> None:
    """Serve the practice cluster with INCIDENT until Ctrl-C; it is a simulator of a Kubernetes API.

    Your own kubectl works against it, and in another terminal so does `truepenny run`. Where the
    incident has identities, INCIDENT@IDENTITY chooses the one that is current.
    """
    if only_list:
        _list(as_json)
        return
    from truepenny.demo.cluster import PracticeCluster, serve
    from truepenny.demo.layer import split_identity
    from truepenny.demo.world import DEFAULT, World

    name, identity = split_identity(incident or DEFAULT)
    world = World.load(name, pods=pods)

    def ready(cluster: PracticeCluster) -> None:
        click.echo(f"practice cluster (a simulator): {world.scenario.title}")
        click.echo(f"serving {cluster.url}; Ctrl-C ends it and removes its files")
        click.echo()
        click.echo(style(f"  export KUBECONFIG={cluster.kubeconfig}", "bold", sys.stdout))
        click.echo("  kubectl get pods -A")
        if cluster.hosts:
            click.echo(style(f"  export TRUEPENNY_CONFIG={cluster.settings}", "bold", sys.stdout))
            click.echo("  truepenny host list")
        for other in cluster.identities:
            click.echo(f"  kubectl --context {other} auth can-i --list")
        click.echo(f'  truepenny run "{world.scenario.question}"')
        sys.stdout.flush()

    serve(world, port=port, faults=faults, on_ready=ready, identity=identity)
