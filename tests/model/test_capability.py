from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.privilege import without_privilege
from truepenny.model.capability import CAPABILITIES, CapabilityMemory, Lesson, apply
from truepenny.model.endpoint import Endpoint
from truepenny.model.profile import Profile

HERE = Endpoint("here", "https://user:pw@API.example:8443/v1")
THERE = Endpoint("there", "https://other.example/v1")
LESSON = Lesson("max_tokens_field", "max_completion_tokens", "not supported")


def test_lessons_last_and_belong_to_one_server_and_model(tmp_path: Path) -> None:
    path = tmp_path / "state" / "capabilities.json"
    CapabilityMemory(path).learn(HERE, "m", LESSON)
    memory = CapabilityMemory(path)
    kept = memory.lessons(HERE, "m")["max_tokens_field"]
    assert (kept.value, kept.because) == (LESSON.value, LESSON.because)
    assert kept.at.endswith("Z")
    assert not memory.lessons(HERE, "other") and not memory.lessons(THERE, "m")
    assert "pw" not in path.read_text(encoding="utf-8")
    memory.forget(HERE, "m", "max_tokens_field")
    assert json.loads(path.read_bytes())["models"] == {}
    assert memory.problem == ""


def test_two_processes_do_not_undo_each_other(tmp_path: Path) -> None:
    path = tmp_path / "capabilities.json"
    first, second = CapabilityMemory(path), CapabilityMemory(path)
    assert not first.lessons(HERE, "m") and not second.lessons(HERE, "m")
    first.learn(HERE, "m", LESSON)
    second.learn(HERE, "m", Lesson("temperature", "no", "x"))
    assert set(CapabilityMemory(path).lessons(HERE, "m")) == {"max_tokens_field", "temperature"}


@pytest.mark.parametrize("damage", [b"", b"{", b'{"format": 99, "models": {}}', b"[]"])
def test_a_file_it_does_not_understand_is_left_alone(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "capabilities.json"
    path.write_bytes(damage)
    memory = CapabilityMemory(path)
    memory.learn(HERE, "m", LESSON)
    assert memory.lessons(HERE, "m")["max_tokens_field"].value == LESSON.value
    assert memory.problem
    assert path.read_bytes() == damage


def test_a_read_only_place_costs_only_the_memory(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    memory = CapabilityMemory(tmp_path / "capabilities.json")
    with without_privilege():
        memory.learn(HERE, "m", LESSON)
    assert memory.lessons(HERE, "m") and memory.problem


def test_a_place_that_cannot_be_a_folder_costs_only_the_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    memory = CapabilityMemory(tmp_path / "file" / "capabilities.json")
    memory.learn(HERE, "m", LESSON)
    assert memory.lessons(HERE, "m") and memory.problem


def test_values_are_read_into_the_profile() -> None:
    lessons = [
        Lesson("max_tokens_field", "max_completion_tokens", ""),
        Lesson("thinking", "adaptive", ""),
        Lesson("efforts", "low,high", ""),
        Lesson("temperature", "no", ""),
        Lesson("stream_usage", "no", ""),
        Lesson("system_role", "developer", ""),
        Lesson("cache_markers", "no", ""),
        Lesson("thinking_off", "no", ""),
    ]
    assert {lesson.capability for lesson in lessons} == CAPABILITIES
    got = apply(Profile("m", cache_markers=True), {one.capability: one for one in lessons})
    assert got == Profile(
        "m",
        max_tokens_field="max_completion_tokens",
        thinking="adaptive",
        efforts=("low", "high"),
        temperature=False,
        stream_usage=False,
        system_role="developer",
        thinking_off=False,
    )


def test_what_a_person_pinned_stays() -> None:
    profile = Profile("m", pinned=frozenset({"temperature"}))
    assert apply(profile, {"temperature": Lesson("temperature", "no", "")}) is profile
    assert apply(profile, {"price": Lesson("price", "1", "")}) is profile
