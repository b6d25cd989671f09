"""`truepenny triage`: the built-in rules over a cluster, no model involved."""

from __future__ import annotations

import click

from .call import call, exit_code, show
from .failure import COULD_NOT_RUN, Finished, say
from .place import place, place_options
from .work import Work
from .workbench import Workbench


@click.command(epilog="Example: truepenny triage --demo checkout-oom --namespace shop")
@place_options
@click.option("-n", "--namespace", metavar="NAME", help="Only this namespace; else all.")
@click.option("--object", "target", metavar="KIND/NAME", help="Only this object and around it.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as one JSON object.")
@click.option(
    "--exit-code",
    "strict",
    is_flag=True,
    help="Exit 1 when something is wrong, 5 when nothing is but not all could be read.",
)
def triage(
    cluster: str | None,
    demo: str | None,
    faults: tuple[str, ...],
    namespace: str | None,
    target: str | None,
    as_json: bool,
    strict: bool,
) -> None:
    """Find what is wrong in a cluster by rules: object, cause, evidence, next step, and its reach.

    What could not be read is listed as not checked; it never counts as fine.
    """
    bench = Workbench()
    with place(bench, cluster, demo, faults) as reached:
        if reached.notice:
            say(reached.notice)
        given = {"namespace": namespace, "object": target}
        arguments = {name: value for name, value in given.items() if value}
        result = call(bench, reached, "triage", arguments, Work(autonomy="read-only"))
    show(result, as_json, body_only=True)
    code = exit_code(result.outcome)
    if strict and not code:
        # What was not read is not a pass.
        unread = result.facts.completeness.state != "complete"
        code = 1 if result.facts.detail.get("incidents") else COULD_NOT_RUN if unread else 0
    raise Finished(code)
