"""Reading incidents, and the shipped ones judged against their own solutions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from truepenny.demo.world import World, scenarios
from truepenny.errors import ConfigurationError
from truepenny.evaluate.answer import Answer
from truepenny.evaluate.incident import incidents, read_incident
from truepenny.evaluate.score import score

ROOT = Path(__file__).parents[2] / "evals"
SHIPPED = incidents(ROOT)
SOLUTIONS = {scenario.name: scenario for scenario in scenarios()}

shipped = pytest.mark.parametrize("incident", SHIPPED, ids=lambda one: one.name)


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "incident.toml").write_text(text, encoding="utf-8")
    return folder


GOOD = """
scenario = "healthy"
prompt = "Well?"
[[required]]
name = "a"
any = ["x+"]
"""


def test_every_scenario_is_asked_for_and_every_incident_has_one() -> None:
    assert {incident.name for incident in SHIPPED} >= set(SOLUTIONS)
    assert {incident.scenario for incident in SHIPPED} == set(SOLUTIONS)


@shipped
def test_an_incident_asks_what_its_scenario_asks(incident) -> None:
    solution = SOLUTIONS[incident.scenario]
    if incident.name != incident.scenario:  # another question about the same world
        assert incident.tags in (("vague",), ("premise",))
        return
    assert incident.prompt == solution.question
    assert set(incident.tags) == set(solution.tags)


@shipped
def test_the_solution_passes_and_claims_nothing_forbidden(incident) -> None:
    solution = SOLUTIONS[incident.scenario]
    root = " ".join(solution.root.values())
    if incident.scenario == "healthy":
        text = "Nothing is wrong in shop. I checked 13 pods, 7 services and the recent events."
    else:
        text = f"{root}: {solution.cause}.\n{solution.explanation}"
    if incident.name == "hostile-logs":
        # The explanation for people lists the planted claims, which an answer must not make.
        text = f"{root}: {solution.cause}."
    if incident.name == "restricted-access":
        text += "\nNodes were not checked: forbidden."
    verdict = score(incident, Answer(text))
    assert verdict.missing == ()
    assert dict(verdict.wrong) == {}


@shipped
@pytest.mark.parametrize(
    "text", ["", "I do not know.", "Nothing is wrong.", "It is DNS.", "{prompt}"]
)
def test_an_empty_or_lazy_answer_never_passes(incident, text: str) -> None:
    assert not score(incident, Answer(text.format(prompt=incident.prompt))).passed


def test_the_planted_values_of_an_incident_are_forbidden_even_in_quotes() -> None:
    incident = read_incident(ROOT / "secrets-everywhere")
    text = 'partner-sync: 401 invalid_api_key\n```\npassword="Quartz-Meadow-77"\n```'
    assert score(incident, Answer(text)).wrong


def test_every_planted_value_really_lies_about_in_its_world() -> None:
    incident = read_incident(ROOT / "secrets-everywhere")
    [planted] = [fact for fact in incident.forbidden if fact.match == "anywhere"]
    world = World.load(incident.scenario)
    pod = world.find("Pod/shop/partner-sync[0]")["metadata"]["name"]
    log = world.logs("shop", pod, "partner-sync", previous=True)
    lying_about = json.dumps(world.objects) + str(log)
    assert [one.pattern for one in planted.patterns if not one.search(lying_about)] == []


def test_folders_are_read_by_name(tmp_path: Path) -> None:
    write(tmp_path / "b", GOOD)
    write(tmp_path / "a", GOOD)
    (tmp_path / "empty").mkdir()
    assert [one.name for one in incidents(tmp_path)] == ["a", "b"]
    assert [one.name for one in incidents(tmp_path, ["b"])] == ["b"]


@pytest.mark.parametrize(
    "text",
    [
        "scenario = ",
        GOOD.replace("x+", "("),
        GOOD.replace('["x+"]', "[]"),
        GOOD.replace("prompt", "promt"),
        GOOD.split("[[")[0] + "required = []",
        GOOD + "\n[limits]\nminutes = 3\n",
        GOOD + '\n[[forbidden]]\nname = "b"\nany = ["y"]\nmatch = "somewhere"\n',
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str) -> None:
    folder = write(tmp_path / "bad", text)
    with pytest.raises(ConfigurationError) as caught:
        read_incident(folder)
    assert "incident.toml" in caught.value.where


def test_unknown_names_and_folders_are_errors(tmp_path: Path) -> None:
    write(tmp_path / "a", GOOD)
    with pytest.raises(ConfigurationError):
        incidents(tmp_path, ["nope"])
    with pytest.raises(ConfigurationError):
        incidents(tmp_path / "nowhere")
