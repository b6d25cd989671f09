"""Every example in the README and in docs/ does what the page says."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .examples import PAGES, Example, examples, missing
from .shell import Shell

BLOCKS = [block for page in PAGES for block in examples(page)]


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that the account of commands may enter, as homes are; pytest's own folders are not."""
    path = Path(tempfile.mkdtemp(prefix="truepenny-docs-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block[0].name)
def test_block(block: list[Example], home: Path) -> None:
    with Shell(home) as shell:
        for example in block:
            shell.check(example)


def test_the_checker_notices_what_is_missing_or_out_of_order() -> None:
    assert missing(("a", "b ... d"), "a\nb c d\n") is None
    assert missing(("b", "a"), "a\nb\n") == "a"
    assert missing(("c",), "a\nb\n") == "c"


def test_the_reader_understands_codes_continuations_and_servers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ cat <<X  # exit 3\n> one\n>\n> X\nout\n...\n$ serve &\n$ export A=...\n```\n"
        "```console static\n$ never\n```\n",
        encoding="utf-8",
    )
    ((first, second, third),) = examples(page)
    assert (first.command, first.exit_code, first.expected) == ("cat <<X\none\n\nX", 3, ("out",))
    assert second.serves
    assert not first.serves
    assert third.pasted == "A"


def test_a_server_is_waited_for_pasted_from_and_ended(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    serve = "bash -c 'echo export WHERE=/here; echo up; exec sleep 60' &"
    with Shell(tmp_path) as shell:
        shell.check(Example(page, 1, serve, ("up",)))
        shell.check(Example(page, 2, "export WHERE=..."))
        shell.check(Example(page, 3, "echo at $WHERE", ("at /here",)))


@pytest.mark.parametrize("command", ["false", "echo other", "echo other &", "export NOTHING=..."])
def test_a_page_that_is_wrong_fails(command: str, tmp_path: Path) -> None:
    example = Example(PAGES[0], 1, command, ("this",))
    with Shell(tmp_path) as shell, pytest.raises(AssertionError):
        shell.check(example)


def test_pages_link_to_pages_and_headings_that_exist() -> None:
    for page in PAGES:
        for target, anchor in re.findall(
            r"\]\(([^)#:]*)(?:#([^)]+))?\)", page.read_text(encoding="utf-8")
        ):
            other = page.parent / target if target else page
            assert other.exists(), f"{page.name}: {target}"
            if anchor:
                assert anchor in _anchors(other), f"{page.name}: {target}#{anchor}"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
