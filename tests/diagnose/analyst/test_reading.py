from __future__ import annotations

import pytest

from tests.diagnose.triage.build import deployment, node, obj
from tests.diagnose.triage.world import Objects

from .talk import Answers, Talk

pytestmark = pytest.mark.anyio


def talk(name: str = "checkout") -> Talk:
    objects = [obj("Namespace", "shop", ""), deployment(name), node()]
    return Talk(Answers({"c": Objects(objects, logs=lambda *_: "")}))


def remarks(answer: str) -> list[str]:
    """The lines on how the question was read."""
    return [
        line
        for line in answer.splitlines()
        if line.startswith(("- Nothing here is called", "- Words that name"))
    ]


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("Hat die Datenbank ein Problem?", '"Hat", "Datenbank", "ein"'),
        ("Läuft zurzeit etwas schief?", '"Läuft", "zurzeit", "etwas", "schief"'),
        ("eins zwei drei vier acht neun zehn elf", "and 2 more"),
    ],
)
async def test_words_that_name_nothing_are_quoted(question: str, quoted: str) -> None:
    (line,) = remarks(await talk().ask(question))
    assert quoted in line


@pytest.mark.parametrize(
    "question",
    [
        "Is anything wrong?",
        "What's wrong with the cluster, and why doesn't it work?",
        "Is anything wrong in namespace shop?",
        "Why are the nodes under pressure?",
        'why?\n\n<untrusted id=1 source="standard input">\nlorem ipsum dolor\n</untrusted>',
    ],
)
async def test_a_question_that_was_understood_has_no_remark(question: str) -> None:
    assert remarks(await talk().ask(question)) == []


async def test_a_name_that_was_taken_for_another_is_said() -> None:
    (line,) = remarks(await talk().ask("Why is chekout down?"))
    assert '"chekout"' in line
    assert "Deployment shop/checkout" in line
    assert remarks(await talk().ask("Why is checkout down?")) == []


async def test_a_namespace_that_was_read_is_not_called_unread() -> None:
    answer = await talk().ask("Why is checkout down?")
    (line,) = [each for each in answer.splitlines() if "namespaces other than" in each]
    assert "shop" in line


async def test_a_short_word_for_a_kind_is_not_taken_for_a_part_of_a_name() -> None:
    assert remarks(await talk("cert-manager").ask("Is the cert fine?")) == []
