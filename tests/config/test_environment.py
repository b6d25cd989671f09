from __future__ import annotations

from truepenny.config.environment import Stray, read


def test_keys_joined_by_one_underscore_are_warned_about() -> None:
    env = {"TRUEPENNY_RUN_MAX_TURNS": "2", "TRUEPENNY_RUN_SOMETHING": "1", "TRUEPENNY_HOME": "/h"}
    variables, strays = read(env, {})
    assert variables == []
    assert strays == [Stray("TRUEPENNY_RUN_MAX_TURNS", "TRUEPENNY_RUN__MAX_TURNS")]
