"""Fixtures of the cluster tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from .fake_kubectl import FakeKubectl


@pytest.fixture
def fake(tmp_path: Path) -> FakeKubectl:
    """A kubectl that prints nothing until a test says what."""
    return FakeKubectl(tmp_path).says()
