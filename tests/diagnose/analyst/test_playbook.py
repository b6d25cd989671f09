from __future__ import annotations

import pytest

from truepenny.diagnose.analyst.intent import Intent, understand
from truepenny.diagnose.analyst.playbook import LISTEN, SYSTEM, choose, playbooks, vocabulary
from truepenny.diagnose.triage.query import CLUSTER_WIDE, NAMESPACED

QUESTIONS = {
    "node": ("why is the node not ready", []),
    "certificate": ("browsers reject our certificate", []),
    "dns": ("coredns does not answer", []),
    "deletion": ("the namespace is stuck terminating", []),
    "job": ("did the nightly backup run", []),
    "autoscaling": ("the hpa does nothing", []),
    "storage": ("the volume is full", []),
    "quota": ("the quota is used up", []),
    "traffic": ("users see 502", []),
    "workload": ("why does it crash", ["Deployment"]),
    "health": ("is everything fine", []),
}


def test_every_playbook_is_chosen_by_some_question() -> None:
    chosen = {choose(words.split(), kinds).name for words, kinds in QUESTIONS.values()}
    assert chosen == set(QUESTIONS) == {each.name for each in playbooks()}
    for name, (words, kinds) in QUESTIONS.items():
        assert choose(words.split(), kinds).name == name


def test_every_stage_reads_what_can_be_read() -> None:
    known = {*NAMESPACED, *CLUSTER_WIDE, LISTEN, SYSTEM}
    used = {entry for each in playbooks() for stage in each.stages for entry in stage}
    assert used == known


def test_the_last_playbook_fits_everything_and_reads_every_group() -> None:
    last = playbooks()[-1]
    assert not last.words and not last.kinds
    assert {entry for stage in last.stages for entry in stage} == {*NAMESPACED, *CLUSTER_WIDE}


@pytest.mark.parametrize(
    ("text", "follows", "intent"),
    [
        ("Why is checkout failing?", False, Intent.INVESTIGATE),
        ("checkout doesn't start", False, Intent.INVESTIGATE),
        ("what about checkout", False, Intent.INVESTIGATE),
        ("list pods in shop", False, Intent.LIST),
        ("how many nodes are there", False, Intent.LIST),
        ("which pods are failing", False, Intent.INVESTIGATE),
        ("scale checkout to 3", False, Intent.CHANGE),
        ("please delete the pod", False, Intent.CHANGE),
        ("hi", False, Intent.INTRODUCE),
        ("what can you do?", False, Intent.INTRODUCE),
        ("write me a poem", False, Intent.FOREIGN),
        ("", False, Intent.FOREIGN),
        ("write me a poem", True, Intent.FOREIGN),
        ("how do I fix it?", True, Intent.STEPS),
        ("are you sure?", True, Intent.PROOF),
        ("and now?", True, Intent.INVESTIGATE),
    ],
)
def test_words_tell_what_is_wanted(text: str, follows: bool, intent: Intent) -> None:
    assert understand(text, follows=follows).intent is intent


def test_the_word_lists_are_lower_case_words() -> None:
    known = vocabulary()
    for words in (known.symptoms, known.common, known.things, known.refresh, known.steps):
        assert words and all(word == word.lower() and " " not in word for word in words)
