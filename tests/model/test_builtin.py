"""Builtin models: named by path, imported when asked."""

from __future__ import annotations

import subprocess
import sys

import pytest

from truepenny.errors import ConfigurationError
from truepenny.model.wires import builtin


class Quiet:
    """A model for this test; made without arguments, as every builtin one."""

    name = "builtin/quiet-test"


def test_a_registered_model_is_made_anew_at_each_lookup() -> None:
    path = f"{__name__}:Quiet"
    builtin.register("quiet-test", path)
    builtin.register("quiet-test", path)
    assert "builtin/quiet-test" in builtin.names()
    first, second = builtin.lookup("builtin/quiet-test"), builtin.lookup("quiet-test")
    assert first.name == "builtin/quiet-test"
    assert first is not second
    with pytest.raises(ValueError, match="already"):
        builtin.register("quiet-test", "elsewhere:Quiet")
    with pytest.raises(ValueError, match="module:attribute"):
        builtin.register("other", "no_attribute")


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(ConfigurationError) as caught:
        builtin.lookup("builtin/anlyst")
    assert builtin.DEFAULT in caught.value.remedy


def test_naming_a_model_imports_nothing_of_it() -> None:
    script = (
        "import sys; from truepenny.model.wires import builtin; builtin.names(); "
        "print([name for name in sys.modules if name.startswith('truepenny.diagnose')])"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert done.stdout.strip() == b"[]"
