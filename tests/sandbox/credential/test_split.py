"""Who gets which variable; each of the four orders has a test of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from truepenny.sandbox.credential.split import MARKER, CredentialSpec, NotGiven, Split, split

DATABASE = CredentialSpec("STATE_DATABASE", frozenset({"notes"}), proxy_only=True)
MAIL = CredentialSpec("MAIL_PASSWORD", frozenset({"mail"}))
FORGE = CredentialSpec("FORGE_TOKEN", frozenset({"forge", "review"}))
PLAIN = CredentialSpec("MAIL_SERVER", frozenset({"mail"}), sensitive=False)
SPECS = (DATABASE, MAIL, FORGE, PLAIN)

TASK = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "STATE_DATABASE": "/var/lib/state.sqlite",
    "MAIL_PASSWORD": "hunter2-mail",
    "FORGE_TOKEN": "forge-0123456789",
    "MAIL_SERVER": "imap.example",
}


def of(task: dict[str, str] | None = None, host: dict[str, str] | None = None) -> Split:
    return split(
        TASK if task is None else task,
        SPECS,
        host=host or {},
        selected={"notes", "review"},
        path_prepends=[Path("/opt/stand-ins")],
        model_tools={"review"},
    )


def test_three_ways() -> None:
    made = of()
    assert made.model == {
        "PATH": "/opt/stand-ins:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "MAIL_SERVER": "imap.example",
        MARKER: "1",
    }
    assert made.base == {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "MAIL_SERVER": "imap.example",
        "STATE_DATABASE": "/var/lib/state.sqlite",
    }
    assert made.credentials == {
        "mail": {"MAIL_PASSWORD": "hunter2-mail"},
        "forge": {"FORGE_TOKEN": "forge-0123456789"},
        "review": {"FORGE_TOKEN": "forge-0123456789"},
    }


def test_order_1_proxy_only_goes_before_credentials() -> None:
    both = (*SPECS, CredentialSpec("STATE_DATABASE", frozenset({"mail"})))
    made = split(TASK, both, host={}, selected={"mail"})
    assert made.base["STATE_DATABASE"] == "/var/lib/state.sqlite"
    assert "STATE_DATABASE" not in made.credentials["mail"]
    assert made.lookup("STATE_DATABASE") is NotGiven.NOT_AUTHORISED


def test_order_2_credentials_go_before_the_model() -> None:
    made = of()
    assert not {"MAIL_PASSWORD", "FORGE_TOKEN", "STATE_DATABASE"} & set(made.model)
    assert not {"MAIL_PASSWORD", "FORGE_TOKEN"} & set(made.base)


def test_order_3_the_base_is_taken_before_the_marker_and_the_prepends() -> None:
    made = of()
    assert MARKER not in made.base
    assert made.base["PATH"] == "/usr/bin:/bin"
    assert MARKER not in made.environment("mail")


def test_order_4_top_ups_come_last_and_only_fill_gaps() -> None:
    spec = CredentialSpec("https_proxy", frozenset({"review"}))
    host = {
        "SSL_CERT_FILE": "/etc/ours.pem",
        "CURL_CA_BUNDLE": "/etc/ours.pem",
        "HTTPS_PROXY": "http://ours",
        "ANTHROPIC_BASE_URL": "https://ours",
    }
    task = TASK | {"SSL_CERT_FILE": "/theirs.pem", "https_proxy": "http://theirs"}
    made = split(task, (*SPECS, spec), host=host, selected={"review"}, model_tools={"review"})
    env = made.environment("review")
    assert env["SSL_CERT_FILE"] == "/theirs.pem"
    assert env["CURL_CA_BUNDLE"] == "/etc/ours.pem"
    # Its own proxy in small letters is its own: ours beside it would win in many programs.
    assert env["https_proxy"] == "http://theirs"
    assert "HTTPS_PROXY" not in env


def test_a_proxy_and_a_model_address_only_for_what_calls_a_model() -> None:
    host = {
        "SSL_CERT_FILE": "/etc/ours.pem",
        "https_proxy": "http://ours",
        "NO_PROXY": "inside",
        "OPENAI_BASE_URL": "https://model",
        "HOME": "/home/person",
    }
    made = of(host=host)
    assert (
        made.environment("review").items()
        >= {
            "SSL_CERT_FILE": "/etc/ours.pem",
            "HTTPS_PROXY": "http://ours",
            "NO_PROXY": "inside",
            "OPENAI_BASE_URL": "https://model",
        }.items()
    )
    mail = made.environment("mail")
    assert mail["SSL_CERT_FILE"] == "/etc/ours.pem"
    assert not {"HTTPS_PROXY", "NO_PROXY", "OPENAI_BASE_URL", "HOME"} & set(mail)


def test_our_settings_and_model_keys_come_out_nowhere() -> None:
    never = {
        "TRUEPENNY_MASTER_KEY": "master",
        "TRUEPENNY_PROVIDERS__X__API_KEY": "key",
        "truepenny_master_key": "master",
        "ANTHROPIC_API_KEY": "key",
        "MY_PROVIDER_KEY": "key",
    }
    specs = [
        CredentialSpec(name, frozenset({"review"}), proxy_only=bool(at % 2))
        for at, name in enumerate(never)
    ]
    made = split(
        TASK | never,
        specs,
        host=never,
        selected={"review"},
        model_tools={"review"},
        model_keys={"MY_PROVIDER_KEY"},
    )
    for env in (made.model, made.base, made.environment("review")):
        assert not set(never) & set(env)
    assert made.credentials == {}
    for name in never:
        assert made.lookup(name) is NotGiven.NOT_AUTHORISED


def test_a_tool_with_a_credential_is_authorised_without_being_selected() -> None:
    made = of()
    assert made.authorised == {"notes", "review", "mail", "forge"}
    without = of({"PATH": "/usr/bin"})
    assert without.authorised == {"notes", "review"}


def test_a_tool_sees_its_own_credentials_alone() -> None:
    made = of()
    assert "FORGE_TOKEN" not in made.environment("mail")
    assert "MAIL_PASSWORD" not in made.environment("forge")
    assert made.environment("notes") == dict(made.base)


def test_no_environment_for_a_tool_that_is_not_authorised() -> None:
    with pytest.raises(KeyError):
        of().environment("other")


def test_lookups() -> None:
    made = of()
    assert made.lookup("FORGE_TOKEN") == "forge-0123456789"
    assert made.lookup("MAIL_SERVER") is NotGiven.NOT_AUTHORISED  # it is in the environment
    assert made.lookup("NOBODY_KNOWS") is NotGiven.NOT_AUTHORISED
    empty = of({"PATH": "/usr/bin"})
    assert empty.lookup("FORGE_TOKEN") is NotGiven.NOT_PRESENT
    assert empty.lookup("MAIL_PASSWORD") is NotGiven.NOT_AUTHORISED  # `mail` is not of this task


def test_an_environment_of_which_nothing_is_left_is_empty_and_not_inherited() -> None:
    made = split({"MAIL_PASSWORD": "hunter2-mail"}, SPECS, host={}, selected={"notes"})
    assert made.model == {MARKER: "1"}
    assert made.base == {}
    assert made.environment("notes") == {}


def test_what_must_be_masked() -> None:
    assert set(of().secrets()) == {
        ("MAIL_PASSWORD", "hunter2-mail"),
        ("FORGE_TOKEN", "forge-0123456789"),
        ("STATE_DATABASE", "/var/lib/state.sqlite"),
    }
