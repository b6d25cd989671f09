"""The look at a web page's files, with the programs of the machine and stand-ins for others."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workspace.world import LEVELS, World, read, world
from truepenny.execute.ending import Outcome
from truepenny.system.clock import ManualClock
from truepenny.tool.result import Result
from truepenny.workspace.verify import page_files
from truepenny.workspace.verify.page_files import find
from truepenny.workspace.verify.page_finding import Reference, Status
from truepenny.workspace.verify.page_reference import problem_of
from truepenny.workspace.verify.page_style import read_style
from truepenny.workspace.verify.page_tags import MAX_PROBLEMS, read_page
from truepenny.workspace.verify.tool import verify_tool

pytestmark = pytest.mark.anyio


def wrong(text: str) -> list[tuple[int, str]]:
    return [(problem.line, problem.message) for problem in read_page(text).problems]


@pytest.mark.parametrize(
    "text",
    [
        "<!doctype html><html><head><title>a < b </p></title><body><p>one<p>two<br>3",
        "<ul><li>a<li>b</ul>",
        "<table><tr><td>1<td>2<tr><td>3</table>",
        "<img src=a alt='x > y'><input disabled><hr/>",
        "<svg><path d='M0'/><g><circle/></g></svg>",
        "<!-- <div> --><script>if (a < b) '</div>'</script><DIV Class=x></div >",
        "a < b && c > d",
        "<p>a</p><?xml x?><math><![CDATA[ <b> ]]></math>",
    ],
)
def test_pages_that_are_balanced(text: str) -> None:
    assert wrong(text) == []


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("<div>\n<b>\n</div>", 3, "</div> comes while <b> of line 2 is open"),
        ("\n<div>", 2, "<div> is never closed"),
        ("</div>", 1, "</div> closes nothing"),
        ("<br></br>", 1, "</br> closes nothing: <br> has no end"),
        ("a\n<!-- x", 2, "a comment is never closed"),
        ("<a href='x>", 1, "<a> does not end: an attribute or a quote is broken"),
        ("<script>\n1", 1, "<script> is never closed"),
        ("<div", 1, "<div> does not end: an attribute or a quote is broken"),
        ("<p></div", 1, "</div does not end"),
        ("<!x", 1, "a declaration is never closed"),
    ],
)
def test_pages_that_are_not(text: str, line: int, said: str) -> None:
    assert (line, said) in wrong(text)


def test_a_tag_that_does_not_close_itself_is_a_warning() -> None:
    (problem, unclosed) = read_page("<div/>").problems
    assert (problem.status, unclosed.message) == (Status.WARN, "<div> is never closed")


def test_what_a_page_holds() -> None:
    page = read_page(
        "<link href=a.css><img srcset='b.png 1x, c.png 2x' src='d.png'>\n<a href='#x'>x</a>"
        "<script type=module>import 'e'</script>\n<script>\nlet f</script>"
        "<script type='text/template'><</script><script src=g.js></script><style>h{}</style>"
    )
    assert [one.target for one in page.references] == [
        "a.css", "d.png", "b.png", "c.png", "#x", "g.js",
    ]  # fmt: skip
    assert [(one.text, one.line, one.module) for one in page.scripts] == [
        ("import 'e'", 2, True), ("\nlet f", 3, False),
    ]  # fmt: skip
    assert [one.text for one in page.styles] == ["h{}"]
    assert read_page("<base href='/x/'>").rebased


@given(st.text(st.sampled_from("<>/!-\"'= \nabdivpscrt"), max_size=80))
def test_any_text_is_read_to_its_end(text: str) -> None:
    page = read_page(text)
    assert all(1 <= one.line <= text.count("\n") + 1 for one in page.problems)
    style = read_style(text)
    assert all(1 <= one.line <= text.count("\n") + 1 for one in style.problems)


def test_a_hostile_page_costs_no_more_than_its_length() -> None:
    for text in (
        "<!--" * 100_000,
        "<a " * 100_000,
        "<b>" * 50_000 + "<i></i>" * 50_000,
        "<p>" + "<b>" * 50_000 + "</p>",
        "</" * 10**5,
    ):
        assert len(read_page(text).problems) <= MAX_PROBLEMS + 1


@pytest.mark.parametrize(
    "text",
    [
        "a{b:c}/* } */@media (x){d{e:'}'}}",
        'a{b:"\\"}"}',
        "a{background:url(x;y.png)}",
        "a::before{content:'\\\n'}",
        "a\\{b{}",
        "a[b='c']{d:calc((1px + 2px))}",
    ],
)
def test_styles_that_are_balanced(text: str) -> None:
    assert read_style(text).problems == []


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a{\nb{}", 1, "`{` is never closed"),
        ("a{}\n}", 2, "`}` closes nothing"),
        ("a{\n(}", 2, "`}` closes nothing; `(` of line 2 is open"),
        ("a{b:'c\n}", 1, "a string is not closed on its line"),
        ("\n/* x", 2, "a comment is never closed"),
    ],
)
def test_styles_that_are_not(text: str, line: int, said: str) -> None:
    (problem,) = read_style(text).problems
    assert (problem.line, problem.message) == (line, said)


def test_files_that_a_style_names() -> None:
    text = "@import 'a.css';\n@import url(b.css);c{d:url('e.png') url( f.png );g:'h.png'}"
    found = [(one.target, one.line) for one in read_style(text).references]
    assert found == [("a.css", 1), ("b.css", 2), ("e.png", 2), ("f.png", 2)]


def test_references(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    site = root / "site"
    (site / "sub").mkdir(parents=True)
    (site / "a b.png").touch()
    (site / "out").symlink_to("/etc/hostname")

    def status(target: str) -> Status | None:
        problem = problem_of(Reference(target, 1), site / "sub/page.html", site, root)
        return problem and problem.status

    for fine in ("../a%20b.png?x#y", "/a b.png", "#x", "?x", "https://x/y", "//x", "data:,x",
                 "mailto:x", "{{ url }}", "", ".."):  # fmt: skip
        assert status(fine) is None, fine
    assert status("a.png") is Status.FAIL
    assert status("/c.png") is Status.WARN
    assert status("../../../etc/passwd") is status("../out") is Status.FAIL


def test_which_files_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path.resolve()
    for name in ("b.js", "a/c.html", "node_modules/x.js", ".git/y.js", "z.txt", "a/D.CSS"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).touch()
    (root / "l.js").symlink_to("b.js")
    assert find(root, root).files == ["b.js", "a/D.CSS", "a/c.html"]
    monkeypatch.setattr(page_files, "MAX_FILES", 2)
    assert find(root, root).rest == "more than 2 files: name a smaller folder"
    monkeypatch.setattr(page_files, "MAX_ENTRIES", 1)
    assert "directory entries" in find(root, root / "a").rest


async def frontend(here: World, **arguments: object) -> Result:
    return await here.call(verify_tool(here.workspace), {"check": "frontend", **arguments})


def answers(result: Result) -> set[tuple[str, str, str]]:
    found = result.facts.detail["answers"]
    return {(one["file"], one["aspect"], one["status"]) for one in found}


@pytest.mark.parametrize("level", LEVELS)
async def test_scripts_are_read_by_node_or_said_not_to_be(level: str) -> None:
    node = shutil.which("node", path=os.defpath)
    async with world(level) as here:
        here.write("good.js", "let a = 1;\n")
        here.write("module.js", "import a from 'b';\n")
        here.write("bad.mjs", "let a = 1;\nlet b = ;\n")
        here.write("page.html", "<p>\n<script>\nlet = ;</script>")
        done = await frontend(here, browser="off")
    found = answers(done)
    assert ("page.html", "tags", "pass") in found
    if node is None:
        assert ("bad.mjs", "script", "skip") in found
        assert "node is not installed" in done.text
        assert done.outcome is Outcome.SUCCESS
        return
    assert ("good.js", "script", "pass") in found
    assert ("module.js", "script", "pass") in found
    assert ("bad.mjs", "script", "fail") in found
    assert "fail bad.mjs:2 script: as module: SyntaxError" in done.text
    assert "fail page.html:3 script: as commonjs: SyntaxError" in done.text
    assert (done.outcome, done.facts.reason) == (Outcome.TARGET_FAILED, "frontend")
    assert done.facts.detail["validation"] == "failed"
    assert done.facts.sandbox == level


BROWSER = """#!/bin/sh
for last; do :; done
case "$last" in *empty*) exit 0;; *crash*) exit 139;;
*noisy*) echo '[1:1:INFO:CONSOLE(3)] "Uncaught ReferenceError: x", source: y' >&2;; esac
echo "<html>$last</html>"
"""


async def test_a_browser_is_a_program_with_an_answer() -> None:
    async with world() as here:
        # Stands for a browser, which most machines lack; a test of its words needs a real one.
        program = here.root.parent / "bin/chromium"
        program.parent.mkdir()
        program.write_text(BROWSER, encoding="utf-8")
        program.chmod(0o755)
        here.workspace.env = {"PATH": f"{program.parent}:{os.defpath}"}
        for name in ("good", "empty", "crash", "noisy"):
            here.write(f"{name}.html", "<p>x")
        done = await frontend(here)
        strict = await frontend(here, path="crash.html", browser="required")
    found = {file: status for file, aspect, status in answers(done) if aspect == "browser"}
    assert found == {
        "good.html": "pass", "empty.html": "fail", "crash.html": "skip", "noisy.html": "warn",
    }  # fmt: skip
    assert done.facts.completeness.state == "partial"
    assert ("crash.html", "browser", "fail") in answers(strict)


async def test_a_browser_that_is_not_there() -> None:
    async with world() as here:
        here.workspace.env = {"PATH": str(here.root.parent)}
        here.write("page.html", "<p>x")
        auto = await frontend(here)
        required = await frontend(here, browser="required")
        off = await frontend(here, browser="off")
    assert auto.outcome is Outcome.SUCCESS
    assert auto.facts.completeness.state == "partial"
    assert "skip page.html browser: no browser is installed" in auto.text
    assert required.outcome is Outcome.TARGET_FAILED
    assert off.facts.completeness.state == "complete"
    assert "scientific validity: not established by this check" in read(off)


async def test_a_look_at_nothing_is_no_pass() -> None:
    async with world() as here:
        here.write("notes.txt", "x")
        empty = await frontend(here)
        other = await frontend(here, path="notes.txt")
        missing = await frontend(here, path="none")
        outside = await frontend(here, path="..")
        extra = await frontend(here, args=["x"])
    for done in (empty, other):
        assert (done.outcome, done.facts.reason) == (Outcome.NO_MATCH, "nothing_to_check")
        assert done.facts.detail["validation"] == "not-run"
    assert (missing.outcome, missing.facts.reason) == (Outcome.INVALID_ARGUMENTS, "missing")
    assert (outside.outcome, outside.facts.reason) == (Outcome.REFUSED, "outside_workspace")
    assert extra.facts.reason == "not_taken"


async def test_files_that_cannot_be_looked_at_are_skipped_with_the_reason() -> None:
    async with world() as here:
        (here.root / "bytes.css").write_bytes(b"\xff")
        here.write("large.css", "a{}" * 400_000)
        here.write("moved.html", "<base href=x><a href=y>z</a>")
        done = await frontend(here, browser="off")
    assert answers(done) == {
        ("bytes.css", "style", "fail"),
        ("large.css", "style", "skip"),
        ("moved.html", "tags", "pass"),
        ("moved.html", "references", "skip"),
    }


async def test_a_look_is_bounded_in_references_words_and_time() -> None:
    async with world() as here:
        here.write("page.html", "<a href=x>" * 3000 + f"</{'b' * 5000}>")
        done = await frontend(here, browser="off")
        late = await here.call(
            verify_tool(here.workspace), {"check": "frontend", "timeout_ms": 1}, clock=Rushing()
        )
    assert ("page.html", "references", "skip") in answers(done)
    assert len(done.text) < 20_000
    assert done.facts.completeness.state == "partial"
    assert (late.outcome, late.facts.completeness.state) == (Outcome.NO_MATCH, "partial")
    assert "not all files were looked at: the time was up before" in late.text


class Rushing(ManualClock):
    """A clock on which every look takes a second."""

    def monotonic(self) -> float:
        self.advance(1)
        return super().monotonic()
