"""Every example in the README and in docs/ does what the page says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .examples import PAGES, ROOT, Example, examples, missing

BLOCKS = [block for page in PAGES for block in examples(page)]


def run(example: Example, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "TRUEPENNY_HOME": str(home / "truepenny"),
        "LANG": "C.UTF-8",
        "COLUMNS": "100",
    }
    # `./dev run` is the same command without the set-up, which this test is part of already.
    command = example.command.replace("./dev ", "truepenny ")
    return subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environment, text=True, timeout=120,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block[0].name)
def test_block(block: list[Example], tmp_path: Path) -> None:
    for example in block:
        done = run(example, tmp_path)
        assert done.returncode == example.exit_code, f"{example.name}\n{done.stdout}"
        lost = missing(example.expected, done.stdout)
        assert lost is None, f"{example.name}: not in the output: {lost}\n{done.stdout}"


def test_the_checker_notices_what_is_missing_or_out_of_order() -> None:
    assert missing(("a", "b ... d"), "a\nb c d\n") is None
    assert missing(("b", "a"), "a\nb\n") == "a"
    assert missing(("c",), "a\nb\n") == "c"


def test_pages_link_to_pages_that_exist() -> None:
    import re

    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
