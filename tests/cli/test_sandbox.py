"""What a person is shown of a sandbox is what holds a command."""

from __future__ import annotations

import json

from tests.workspace.world import folder

from .conftest import Account


def test_the_plan_is_shown_with_what_holds_it(account: Account) -> None:
    with folder() as root:
        done = account.run("sandbox", "--workspace", str(root))
        assert done.returncode == 0
        assert f"{root} " in done.stdout
        assert "held by:" in done.stdout
        found = json.loads(account.run("sandbox", "--workspace", str(root), "--json").stdout)
        assert found["level"] in ("bwrap", "landlock")
        rows = {row["path"]: row["mode"] for row in found["paths"]}
        assert rows[str(root)] == "write"
        assert rows["/usr"] == "read"


def test_a_proxy_is_shown_as_one_or_refused(account: Account) -> None:
    account.configure('[sandbox]\nnetwork = "proxy"\nallow_hosts = ["example.com:443"]\n')
    with folder() as root:
        done = account.run("sandbox", "--workspace", str(root), "--json")
    if done.returncode == 0:
        assert json.loads(done.stdout)["network"] == "proxy"
    else:
        assert (done.returncode, "sandbox.network" in done.stderr) == (5, True)


def test_the_way_to_programs_outside_is_shown_while_it_is_there(account: Account) -> None:
    account.configure('[programs.ship]\nargv = ["true"]\n')
    with folder() as root:
        text = account.run("sandbox", "--workspace", str(root)).stdout
        found = json.loads(account.run("sandbox", "--workspace", str(root), "--json").stdout)
    assert "left out  programs outside" not in text
    rows = {row["path"].rpartition("/")[2]: row["mode"] for row in found["paths"]}
    assert rows["client.py"] == "read"
    # Landlock could not open this socket alone.
    assert rows.get("c.sock") == ("read" if found["level"] == "bwrap" else None)


def test_without_a_folder_it_says_what_to_add(account: Account) -> None:
    done = account.run("sandbox")
    assert (done.returncode, "--workspace" in done.stderr) == (2, True)


def test_a_folder_that_must_stay_closed_is_a_configuration_error(account: Account) -> None:
    done = account.run("sandbox", "--workspace", "/etc")
    assert (done.returncode, "/etc" in done.stderr) == (3, True)
