"""What a process finds in its environment, by dumping it from real programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from truepenny.sandbox.account import account_for
from truepenny.sandbox.credential import names
from truepenny.sandbox.credential.environment import (
    HOME,
    STANDARD_PATH,
    clean_environment,
    clean_path,
    stripped_environment,
)
from truepenny.sandbox.plan import Account

SOMEBODY = Account("somebody", 1234, 1234, drop=False)

HOSTILE = {
    "BASH_ENV": "/tmp/evil",
    "BASH_FUNC_ls%%": "() { echo evil; }",
    "ENV": "/tmp/evil",
    "GIT_SSH_COMMAND": "evil",
    "HTTPS_PROXY": "http://person:pass@proxy",
    "LD_PRELOAD": "/tmp/evil.so",
    "LD_LIBRARY_PATH": "/tmp",
    "NODE_OPTIONS": "--require /tmp/evil.js",
    "PERL5LIB": "/tmp",
    "PERL5OPT": "-Mevil",
    "PYTHONPATH": "/tmp",
    "PYTHONSTARTUP": "/tmp/evil.py",
    "RUBYOPT": "-revil",
    "SSH_AUTH_SOCK": "/run/agent",
    "TRUEPENNY_SANDBOXED": "0",
    "TRUEPENNY_MASTER_KEY": "master",
    "XDG_CONFIG_HOME": "/home/person/.config",
    "all_proxy": "http://proxy",
    "LC_SMUGGLED": "anything",
}


def clean(env: dict[str, str], workspace: Path = Path("/srv/work")) -> dict[str, str]:
    return clean_environment(env, workspace, account=SOMEBODY)


def test_nothing_but_the_list_is_there() -> None:
    made = clean(HOSTILE | {"PATH": "/usr/bin", "HOME": "/home/person", "USER": "person"})
    assert made == {
        "PATH": "/usr/bin",
        "HOME": str(HOME),
        "USER": "somebody",
        "LOGNAME": "somebody",
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "SHELLOPTS": "pipefail",
    }
    assert list(made)[-1] == "SHELLOPTS"


def test_without_an_account_it_is_that_of_the_folder(tmp_path: Path) -> None:
    made = clean_environment({}, tmp_path)
    assert made["USER"] == made["LOGNAME"] == account_for(tmp_path, None).name


def test_the_locale_and_the_zone_pass_as_names_and_never_as_files() -> None:
    good = {"LANG": "de_DE.UTF-8", "LC_TIME": "C", "TZ": "Europe/Berlin"}
    assert clean(good).items() >= good.items()
    bad = {
        "LANG": "/tmp/locale",
        "LC_ALL": "../../tmp/x",
        "LC_CTYPE": "C\nX",
        "TZ": ":/etc/shadow",
    }
    made = clean(bad)
    assert made["LANG"] == "C.UTF-8"
    assert not {"LC_ALL", "LC_CTYPE", "TZ"} & set(made)
    assert "TZ" not in clean({"TZ": "../../../etc/shadow"})


def test_path_loses_relative_entries_and_the_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    (workspace / "bin").mkdir(parents=True)
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "link").symlink_to(workspace / "bin")
    path = (
        f":.:bin:../x:{workspace}/bin:{workspace}:{tmp_path}/link:/usr/bin:{other}"
        f":{other}/../{workspace.name}/bin:/usr/bin:{workspace}/missing"
    )
    assert clean_path(path, workspace) == f"/usr/bin:{other}"


def test_a_workspace_below_a_link_is_known_by_both_names(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "bin").mkdir(parents=True)
    (tmp_path / "alias").symlink_to(real)
    path = f"{real}/bin:{tmp_path}/alias/bin:/bin"
    assert clean_path(path, tmp_path / "alias") == "/bin"


def test_path_loses_what_anybody_may_write(tmp_path: Path) -> None:
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o1777)
    # The second is not there yet: anybody could make it.
    assert clean_path(f"{open_folder}:{open_folder}/later:/bin", Path("/srv/work")) == "/bin"


@pytest.mark.parametrize("path", ["", ".", "bin:", "/srv/work/bin"])
def test_without_a_usable_entry_the_standard_path_is_used(path: str) -> None:
    assert clean_path(path, Path("/srv/work")) == STANDARD_PATH


def test_bash_below_fails_with_its_pipeline() -> None:
    done = subprocess.run(
        ["bash", "-c", "bash -c 'false | true'"], env=clean({"PATH": "/usr/bin:/bin"}), check=False
    )
    assert done.returncode == 1


def test_stripped_keeps_what_is_no_secret() -> None:
    kept = {
        "PATH": "/usr/bin",
        "HOME": "/home/person",
        "LANG": "C",
        "KUBECONFIG": "/home/person/.kube/config",
        "HTTPS_PROXY": "http://proxy:3128",
        "KEYBOARD": "qwerty",
    }
    dropped = {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "BASH_ENV": "x",
        "BASH_FUNC_ls%%": "x",
        "DATABASE_URL": "x",
        "GH_TOKEN": "x",
        "HTTP_PROXY": "http://person:pass@proxy:3128",
        "MYSQL_PWD": "x",
        "MY_APIKEY": "x",
        "SHELLOPTS": "x",
        "TLS_PRIVATE_KEY": "x",
        "TOKENIZER_AUTH": "x",
        "TRUEPENNY_HOME": "/x",
        "db_password": "x",
    }
    assert stripped_environment(kept | dropped) == kept


SPECIFIED = (
    *("X_API_KEY", "X_APIKEY", "X_SECRET", "X_SECRET_KEY", "X_TOKEN", "X_PASSWORD"),
    *("X_PRIVATE_KEY", "X_CREDENTIALS", "NC_PASS", "X_APP_PASSWORD", "PASSWORD_X", "TOKEN_X"),
    *("SECRET_X", "API_KEY_X", "PRIVATE_KEY_X", "CLAUDE_CODE_OAUTH_TOKEN"),
)


@pytest.mark.parametrize("name", SPECIFIED)
def test_the_names_of_both_contracts_are_secret(name: str) -> None:
    assert stripped_environment({name: "x", name.lower(): "x"}) == {}


def test_no_name_is_listed_twice() -> None:
    patterns = (*names.SECRET_PARTS, *names.SECRET_SUFFIXES)
    for listed in (*names.SECRET_NAMES, *patterns):
        others = [part for part in names.SECRET_PARTS if part != listed and part in listed]
        others += [end for end in names.SECRET_SUFFIXES if end != listed and listed.endswith(end)]
        assert others == [], listed


def test_none_is_our_own_environment_and_empty_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEN_BY_ALL", "1")
    monkeypatch.setenv("SEEN_BY_NOBODY_TOKEN", "1")
    inherited = stripped_environment()
    assert inherited["SEEN_BY_ALL"] == "1"
    assert "SEEN_BY_NOBODY_TOKEN" not in inherited
    assert stripped_environment({}) == {}
    assert stripped_environment({"GH_TOKEN": "x"}) == {}
