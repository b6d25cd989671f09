"""Programs of a site: what they add, and what they can never do."""

from __future__ import annotations

import pytest

from truepenny.command.check import Admitted, check
from truepenny.command.instead import FORBIDDEN, forbidden
from truepenny.command.program.load import TableInvalid
from truepenny.command.refusal import Refusal
from truepenny.command.site import read

HEAD = "[family]\nname = 'site'\ncontexts = ['node']\n"


def test_a_site_adds_a_program_with_its_grammar() -> None:
    site = read(HEAD + "[vendorctl]\nswitches = '-j'\nsubcommands.status = {}\n", "site.toml")
    assert site.skipped == ()
    line = "vendorctl status -j | head -3"
    assert isinstance(check(line, "node"), Refusal)
    assert isinstance(check(line, "node", extra=site.programs), Admitted)
    for refused in ("vendorctl reset", "vendorctl status -x", "vendorctl status more"):
        assert isinstance(check(refused, "node", extra=site.programs), Refusal)
    found = check(line, "host", extra=site.programs)
    assert isinstance(found, Refusal)
    assert found.rejected_by == "context_program"


def test_what_is_built_in_wins_and_is_reported() -> None:
    site = read(HEAD + "[cat]\nswitches = '-z'\n[sort]\nswitches = '-o'\n", "site.toml")
    assert site.skipped == ("cat", "sort")
    assert site.programs == {}
    assert isinstance(check("cat -z /x", "node", extra=site.programs), Refusal)


def test_an_extension_is_no_way_around_sensitive_places() -> None:
    site = read(HEAD + "[show]\noperands = 'path*'\n", "site.toml")
    found = check("show /etc/shadow", "node", extra=site.programs)
    assert isinstance(found, Refusal)
    assert found.rejected_by == "sensitive_path"


@pytest.mark.parametrize(
    "name",
    [
        *sorted(FORBIDDEN - {"."}),
        *("python3", "python3.12", "python2.7", "pypy3", "perl5.36", "ruby3.2", "lua5.4", "node18"),
        *(
            "php8.2",
            "gcc-12",
            "Bash",
            "SUDO",
            "tclsh8.6",
            "julia-1.9",
            "guile-3.0",
            "nc.traditional",
        ),
    ],
)
def test_forbidden_programs_are_refused_in_every_version(name: str) -> None:
    assert forbidden(name)
    with pytest.raises(TableInvalid) as caught:
        read(f"{HEAD}['{name}']\nswitches = '-a'\n", "site.toml")
    assert caught.value.where.startswith("site.toml")


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("[x]\nalso = ['bash']", "bash"),
        ("[x]\nstyle = 'free'", "free"),
        ("[x]\n[y]\nalso = ['x']", "twice"),
        ("[x]\njudge = 'ps'", "judge"),
        ("[x]\nnope = 1", "nope"),
        ("[x", "site.toml"),
        ("['/bin/x']", "/bin/x"),
    ],
)
def test_a_mistake_is_an_error_with_its_place(body: str, word: str) -> None:
    with pytest.raises(TableInvalid) as caught:
        read(HEAD + body, "site.toml")
    assert word in str(caught.value)
    assert "site.toml" in caught.value.where
