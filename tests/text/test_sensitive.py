from __future__ import annotations

import pytest

from truepenny.text.sensitive import Strength, key_strength


@pytest.mark.parametrize("key", ["SMTP_PASS", "SMTP_PASS_2", "smtpPass2", "DB_PASSWORD_3"])
def test_the_second_of_two_is_as_secret_as_the_first(key: str) -> None:
    assert key_strength(key) is Strength.STRONG


@pytest.mark.parametrize("key", ["sha256", "PASS_RATE_2", "version2", "compass", "bypass_2"])
def test_a_number_makes_no_secret(key: str) -> None:
    assert key_strength(key) is Strength.NONE
