from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from tests.privilege import without_privilege
from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.sandbox.account import NOBODY_ID, account_for


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def owned_by(monkeypatch: pytest.MonkeyPatch, uid: int, gid: int) -> None:
    real = os.stat(".")
    fields = list(real)
    fields[4:6] = [uid, gid]
    monkeypatch.setattr(os, "stat", lambda path: os.stat_result(fields))


def test_an_ordinary_user_stays_who_they_are(tmp_path: Path) -> None:
    with without_privilege():
        own = os.geteuid()
        account = account_for(tmp_path, None)
        assert (account.uid, account.gid, account.drop) == (own, os.getegid(), False)
        assert account_for(tmp_path, str(own)) == account


def test_an_ordinary_user_cannot_become_another(tmp_path: Path) -> None:
    with without_privilege(), pytest.raises(ConfigurationError, match="only root") as refused:
        account_for(tmp_path, "root")
    assert refused.value.where == "sandbox.account"


@pytest.mark.usefixtures("as_root")
def test_root_becomes_the_account_of_the_setting(tmp_path: Path) -> None:
    daemon = pwd.getpwnam("daemon")
    for setting in ("daemon", str(daemon.pw_uid)):
        account = account_for(tmp_path, setting)
        assert (account.name, account.uid, account.drop) == ("daemon", daemon.pw_uid, True)


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("setting", ["root", "0"])
def test_root_is_refused(tmp_path: Path, setting: str) -> None:
    with pytest.raises(ConfigurationError, match="never run as root") as refused:
        account_for(tmp_path, setting)
    assert refused.value.where == "sandbox.account"


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("setting", ["no-such-account", "3999999999", "9" * 30])
def test_an_unknown_account_is_refused(tmp_path: Path, setting: str) -> None:
    with pytest.raises(ConfigurationError, match="there is no account") as refused:
        account_for(tmp_path, setting)
    assert refused.value.where == "sandbox.account"


@pytest.mark.usefixtures("as_root")
def test_root_becomes_the_owner_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = pwd.getpwnam("daemon")
    owned_by(monkeypatch, daemon.pw_uid, daemon.pw_gid)
    account = account_for(tmp_path, None)
    assert (account.name, account.gid, account.drop) == ("daemon", daemon.pw_gid, True)


@pytest.mark.usefixtures("as_root")
def test_an_owner_without_a_name_is_known_by_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned_by(monkeypatch, 3999999, 3999998)
    account = account_for(tmp_path, None)
    assert (account.name, account.uid, account.gid) == ("3999999", 3999999, 3999998)


@pytest.mark.usefixtures("as_root")
def test_the_group_is_never_that_of_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owned_by(monkeypatch, 3999999, 0)
    assert account_for(tmp_path, None).gid == NOBODY_ID


@pytest.mark.usefixtures("as_root")
def test_a_folder_of_root_is_for_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owned_by(monkeypatch, 0, 0)
    account = account_for(tmp_path, None)
    assert (account.name, account.drop) == ("nobody", True)
    assert account.uid != 0 != account.gid


@pytest.mark.usefixtures("as_root")
def test_a_folder_that_is_not_there_has_no_account(tmp_path: Path) -> None:
    with pytest.raises(CouldNotRun, match="cannot be looked at"):
        account_for(tmp_path / "none", None)
