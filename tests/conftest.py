"""Shared fixtures. Async tests run on asyncio through anyio's plugin.

Property tests are bounded by their number of examples, not by a busy machine's clock.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
