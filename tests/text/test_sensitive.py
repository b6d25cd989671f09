from __future__ import annotations

import pytest

from truepenny.text.redact import Redactor
from truepenny.text.sensitive import Strength, key_strength


@pytest.mark.parametrize("key", ["SMTP_PASS", "SMTP_PASS_2", "smtpPass2", "DB_PASSWORD_3"])
def test_the_second_of_two_is_as_secret_as_the_first(key: str) -> None:
    assert key_strength(key) is Strength.STRONG


@pytest.mark.parametrize("key", ["sha256", "PASS_RATE_2", "version2", "compass", "bypass_2"])
def test_a_number_makes_no_secret(key: str) -> None:
    assert key_strength(key) is Strength.NONE


@pytest.mark.parametrize("line", ["PWD=/srv/my-work", "OLDPWD=/home/ann/src", "PWD=/"])
def test_the_folder_that_a_shell_is_in_is_no_password(line: str) -> None:
    assert Redactor().text(line).text == line


@pytest.mark.parametrize(
    "line",
    [
        "PWD=hunter2hunter2",
        "Pwd=/hunter2",
        "DB_PWD=/hunter2",
        "PWD=/k9Xq2vLw8ZpR4tYs7BnM",
        "PWD=//a b",
    ],
)
def test_a_password_under_the_same_name_is_one(line: str) -> None:
    assert Redactor().text(line).text != line
