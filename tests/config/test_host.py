"""Hosts in the settings: one way in, a chain that ends, secrets that the redactor knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from truepenny.config.host_secret import host_secrets, too_short
from truepenny.config.jump import BadJump, jump_chain
from truepenny.config.redaction import redactor
from truepenny.config.settings import HostSettings, Settings
from truepenny.errors import ConfigurationError

from .test_load import Place

HEAD = '[hosts.{name}]\naddress = "10.0.0.1"\nuser = "ops"\nauth = "agent"\n'


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def chain(**jumps: str | None) -> str:
    return "".join(
        HEAD.format(name=name) + (f'jump = "{jump}"\n' if jump else "")
        for name, jump in jumps.items()
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[hosts.a]\naddress = "x"\nuser = "u"\n', "hosts.a needs key, as its auth is 'key'"),
        (
            '[hosts.a]\naddress = "x"\nuser = "u"\nauth = "password"\n',
            "hosts.a needs password, as its auth is 'password'",
        ),
        (
            HEAD.format(name="a") + 'passphrase = "env:P"\n',
            "hosts.a has passphrase, which auth = 'agent' never uses",
        ),
        ('[hosts.a]\naddress = "x y"\nuser = "u"\nauth = "agent"\n', "hosts.a.address"),
        ('[hosts.a]\naddress = "-oProxy"\nuser = "u"\nauth = "agent"\n', "hosts.a.address"),
        ('[hosts.a]\naddress = "x"\nuser = "-u"\nauth = "agent"\n', "hosts.a.user"),
        ('[hosts.a]\naddress = "x"\nauth = "agent"\n', "hosts.a.user is missing"),
        (HEAD.format(name="a") + "port = 70000\n", "hosts.a.port"),
        (chain(a="bb"), "hosts.a.jump names no host: 'bb'"),
        (chain(a="a"), "hosts.a.jump names the host itself"),
        (chain(a="b", b="c", c="b"), "leads in a circle"),
        (chain(a="b", b="a"), "hosts.b.jump leads in a circle: a -> b -> a"),
        (chain(a="b", b="c", c="d", d="e", e=None), "hosts.d.jump makes more than 3 jumps"),
    ],
)
def test_a_host_that_cannot_be_dialled_is_an_error_with_its_place(
    place: Place, text: str, said: str
) -> None:
    error = place.error(text)
    assert said in error.message
    assert error.where.startswith(str(place.config))
    assert "a table" not in error.message
    assert error.remedy


def test_three_jumps_are_walked_from_outside(place: Place) -> None:
    place.write(chain(a="b", b="c", c="d", d=None))
    hosts = place.load().settings.hosts
    assert jump_chain("a", hosts) == ("d", "c", "b")
    assert jump_chain("d", hosts) == ()


def test_a_chain_is_judged_again_where_it_is_walked() -> None:
    bare = {"address": "x", "user": "u", "auth": "agent"}
    tree = Settings.model_validate({"hosts": {"a": {**bare, "jump": "b"}, "b": {**bare}}})
    circle = {**tree.hosts, "b": tree.hosts["b"].model_copy(update={"jump": "a"})}
    with pytest.raises(BadJump, match="circle"):
        jump_chain("a", circle)


def test_secrets_are_read_when_they_are_needed_and_named_without_their_place() -> None:
    raw = {"address": "x", "user": "u", "auth": "password", "password": "env:PW"}
    host = HostSettings.model_validate(raw)
    assert host_secrets("web", host, {"PW": "open sesame"}).password == "open sesame"
    assert "sesame" not in repr(host_secrets("web", host, {"PW": "open sesame"}))
    with pytest.raises(ConfigurationError) as caught:
        host_secrets("web", host, {})
    assert caught.value.where == "hosts.web.password"
    assert "PW" not in str(caught.value)
    assert too_short(host_secrets("web", host, {"PW": "abc"}))
    assert not too_short(host_secrets("web", host, {"PW": "abcd"}))


def test_the_redactor_knows_passwords_passphrases_and_the_text_of_keys() -> None:
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nQUJDREVGR0hJSktMTU5PUFFSU1RVVg==\n-----END"
    bare = {"address": "x", "user": "u"}
    tree = Settings.model_validate(
        {
            "hosts": {
                "web": {**bare, "auth": "password", "password": "env:PW"},
                "db": {**bare, "key": "env:KEY", "passphrase": "env:PP"},
                "gone": {**bare, "auth": "password", "password": "env:NOT_SET"},
            }
        }
    )
    made = redactor(tree, {"PW": "blue sky", "KEY": key, "PP": "four words more"})
    done = made.text("blue sky, QUJDREVGR0hJSktMTU5PUFFSU1RVVg==, four words more")
    assert done.counts == {
        "hosts.web.password": 1,
        "hosts.db.key": 1,
        "hosts.db.passphrase": 1,
    }
    assert made.text("-----END").counts == {}
