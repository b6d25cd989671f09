"""Programs that look at a page: node for the syntax of scripts, a headless browser for the whole.

The page is project content, so both run in the sandbox like any command.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from truepenny.execute.ending import Outcome
from truepenny.execute.execution import Execution
from truepenny.execute.outcome import classify

from .brief import brief
from .page_finding import Aspect, Finding, Status

RunProgram = Callable[[tuple[str, ...], bytes | None], Awaitable[Execution]]
"""Runs words with standard input in the sandbox."""

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "chrome-headless-shell", "headless_shell",
)  # fmt: skip

BROWSER_WORDS = (
    "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-quic",
    # Its own sandbox needs namespaces that ours does not hand out; ours holds it instead.
    "--no-sandbox",
    "--user-data-dir=/tmp/verify-browser", "--enable-logging=stderr",
    "--virtual-time-budget=5000", "--dump-dom",
)  # fmt: skip

MAX_BROWSED = 10
"""Pages; a start of a browser takes seconds."""

_PLACE = re.compile(r"^\[stdin\]:(\d+)", re.MULTILINE)
_ERROR = re.compile(r"^(?:\w*Error): .*$", re.MULTILINE)
_UNCAUGHT = re.compile(r'CONSOLE.*?"(Uncaught [^"]*)"')
_HAS_ELEMENT = re.compile(r"<[A-Za-z]")


def find_program(names: tuple[str, ...], env: Mapping[str, str]) -> str | None:
    """Return the first of the names that is on the PATH of the check, as a path."""
    return next(
        (path for name in names if (path := shutil.which(name, path=env.get("PATH", "")))), None
    )


async def check_script(
    run: RunProgram, node: str, file: str, text: str, first_line: int, kinds: tuple[str, ...]
) -> Finding:
    """Ask node whether the text parses as one of the kinds (`commonjs`, `module`)."""
    answer = Finding(file, Aspect.SCRIPT, Status.SKIP, "nothing to look at", first_line)
    for kind in kinds:
        done = await run((node, f"--input-type={kind}", "--check", "-"), text.encode())
        meaning = classify(done)
        if meaning.outcome is Outcome.SUCCESS:
            return Finding(file, Aspect.SCRIPT, Status.PASS, f"parses as {kind}", first_line)
        found, place = _ERROR.search(done.stderr.text), _PLACE.search(done.stderr.text)
        if meaning.outcome is not Outcome.TARGET_FAILED or found is None:
            said = meaning.reason or str(done.cause or meaning.outcome)
            message = f"node did not look at it ({said.replace('_', ' ')})"
            return Finding(file, Aspect.SCRIPT, Status.SKIP, message, first_line)
        line = first_line + int(place[1]) - 1 if place else first_line
        answer = Finding(file, Aspect.SCRIPT, Status.FAIL, f"as {kind}: {brief(found[0])}", line)
    return answer


async def browse(
    run: RunProgram, browser: str, root: Path, file: str, *, required: bool
) -> Finding:
    """Load one page from the disk and say what came of it."""
    done = await run((browser, *BROWSER_WORDS, (root / file).as_uri()), None)
    meaning = classify(done)
    if meaning.outcome is not Outcome.SUCCESS:
        said = meaning.reason or f"{meaning.outcome}, exit {done.exit.observed}"
        message = f"the browser itself did not end well ({said}); it says nothing about the page"
        status = Status.FAIL if required else Status.SKIP
        return Finding(file, Aspect.BROWSER, status, message)
    if not _HAS_ELEMENT.search(done.stdout.text):
        return Finding(file, Aspect.BROWSER, Status.FAIL, "the loaded page is empty")
    if errors := _UNCAUGHT.findall(done.stderr.text):
        more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
        message = f"an error in a script while it loaded: {errors[0][:200]}{more}"
        return Finding(file, Aspect.BROWSER, Status.WARN, message)
    return Finding(file, Aspect.BROWSER, Status.PASS, "loaded")
