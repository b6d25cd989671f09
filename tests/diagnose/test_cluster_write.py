"""Whether a credential can write: what the list of rules proves, and what is refused for it."""

from __future__ import annotations

import pytest

from truepenny.diagnose.cluster_write import MAX_SHOWN, read_rules
from truepenny.diagnose.reader import Reader
from truepenny.execute.ending import Outcome

from .fake_kubectl import FakeKubectl

SELF = "selfsubjectaccessreviews.authorization.k8s.io   []   []   [create]\n"
READS = SELF + "pods   []   []   [get list watch]\n       [/healthz]   []   [get]\n"


@pytest.mark.parametrize(
    ("text", "answer", "rules"),
    [
        (READS, "no", ()),
        (READS + "*.*   []   []   [*]\n", "yes", ("* *.*",)),
        (
            READS + "pods   []   [web]   [get delete patch]\n",
            "yes",
            ("delete,patch pods named web",),
        ),
        (READS + "pods/exec   []   []   [get]\n", "yes", ("get pods/exec",)),
        (READS + "*   []   []   [get]\n", "yes", ("get *",)),
        (READS + "*.apps   []   []   [get]\n", "no", ()),
        (READS + "pods/log   []   []   [get]\n", "no", ()),
        (READS + "secrets   []   []   [escalate]\n", "yes", ("escalate secrets",)),
        (READS + "      [*]   []   [*]\n", "yes", ("* *",)),
        (READS + "warning: the list may be incomplete: webhook\n", "unknown", ()),
        ("", "unknown", ()),
    ],
)
def test_rules_settle_it_or_leave_it_unknown(
    text: str, answer: str, rules: tuple[str, ...]
) -> None:
    found = read_rules(text, "shop")
    assert (found.answer, found.rules, found.namespace) == (answer, rules, "shop")
    assert bool(found.why) == (answer == "unknown")


def test_a_long_list_says_how_much_is_left_out() -> None:
    text = "".join(f"thing{n}   []   []   [delete]\n" for n in range(MAX_SHOWN + 5))
    detail = read_rules(text, "shop").detail
    assert (len(detail["rules"]), detail["more_rules"]) == (MAX_SHOWN, 5)


def guarded(fake: FakeKubectl, rules: str, code: int = 0) -> Reader:
    fake.does(
        f"listed = '--list' in sys.argv; print({rules!r} if listed else 'rows');"
        f"sys.exit({code} if listed else 0)"
    )
    return Reader(fake.cluster("prod", require_read_only=True))


@pytest.mark.anyio
async def test_a_read_only_credential_is_asked_for_once(fake: FakeKubectl) -> None:
    reader = guarded(fake, READS)
    for _ in range(2):
        assert (await reader.read(["get", "pods"])).result.outcome is Outcome.SUCCESS
    assert sum("--list" in call["argv"] for call in fake.calls) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("rules", "code", "reason"),
    [
        ("pods   []   []   [delete]", 0, "credential_can_write"),
        (READS, 1, "credential_unknown"),
        ("nonsense", 0, "credential_unknown"),
    ],
)
async def test_any_other_is_refused_before_anything_is_read(
    fake: FakeKubectl, rules: str, code: int, reason: str
) -> None:
    reader = guarded(fake, rules, code)
    result = (await reader.read(["get", "pods"])).result
    assert (result.outcome, result.facts.reason) == (Outcome.REFUSED, reason)
    assert result.facts.detail["matched"] == "clusters.prod.require_read_only"
    assert all("get" not in call["argv"] for call in fake.calls)
    assert (await reader.read(["version"])).result.outcome is Outcome.SUCCESS
