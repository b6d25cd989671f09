from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.privilege import NOBODY
from truepenny.errors import CouldNotRun
from truepenny.sandbox.access import Access, folder_access, require_entry
from truepenny.sandbox.account import account_for


def test_a_folder_of_its_own(folder: Path) -> None:
    assert folder_access(account_for(folder, None), folder) == Access(enter=True, write=True)


def test_a_folder_that_may_be_read_alone(folder: Path) -> None:
    folder.chmod(0o555)
    assert folder_access(account_for(folder, None), folder) == Access(enter=True, write=False)
    folder.chmod(0o755)


def test_a_closed_folder_above_it(folder: Path) -> None:
    below = folder / "closed" / "below"
    below.mkdir(parents=True)
    account = account_for(folder, None)
    if account.drop:
        os.chown(below, NOBODY, NOBODY)
        below.parent.chmod(0o700)
    else:
        below.parent.chmod(0o600)
    try:
        assert folder_access(account, below) == Access(enter=False, write=False)
        with pytest.raises(CouldNotRun, match="cannot enter") as refused:
            require_entry(account, below)
        assert account.name in refused.value.remedy
        assert ("chown" in refused.value.remedy) is account.drop
    finally:
        below.parent.chmod(0o700)
        shutil.rmtree(below.parent)


def test_a_name_that_looks_like_an_option(folder: Path) -> None:
    odd = folder / "-P"
    odd.mkdir()
    account = account_for(folder, None)
    assert folder_access(account, odd).enter
