from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def completed(home: Path, *words: str) -> tuple[list[str], str]:
    """Ask as bash does: the last word is the one being typed. Return what it offers, and stderr."""
    done = subprocess.run(
        [sys.executable, "-c", "from truepenny.__main__ import main; main()"],
        env={
            "PATH": os.environ["PATH"],
            "TRUEPENNY_HOME": str(home),
            "_TRUEPENNY_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(("truepenny", *words)),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        encoding="utf-8",
    )
    offered = (line.partition(",") for line in done.stdout.splitlines())
    return [value for kind, _, value in offered if kind == "plain"], done.stderr


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("se",), "session"),
        (("session", ""), "tail"),
        (("run", "--de"), "--demo"),
        (("run", "--demo", "checkout"), "checkout-oom"),
        (("demo", "checkout"), "checkout-oom"),
        (("run", "--model", "b"), "builtin/analyst"),
        (("models", "b"), "builtin/analyst"),
        (("run", "--cluster", "s"), "staging"),
        (("evaluate", "vague"), "vague-oom"),
        (("evaluate", "--model", "b"), "builtin/analyst"),
        (("conformance", "--category", "pi"), "pipeline"),
        (("conformance", "--case", "exit-4"), "exit-42"),
        (("config", "show", "mo"), "model"),
        (("config", "show", "model.d"), "model.default"),
        (("tool", "call", "ku"), "kubectl"),
        (("redact", "--as", "k8s"), "k8s-yaml"),
        (("completion", ""), "zsh"),
    ],
)
def test_what_exists_is_offered(words: tuple[str, ...], name: str, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "truepenny.toml").write_text(
        '[clusters.staging]\nkubeconfig = "/nowhere"\n', encoding="utf-8"
    )
    offered, complaint = completed(tmp_path, *words)
    assert name in offered
    assert all(other.startswith(words[-1]) for other in offered)
    assert complaint == ""


@pytest.mark.parametrize("text", ["[model\n", "[model]\ndefult = 'x'\n"])
@pytest.mark.parametrize(
    "words", [("run", "--cluster", ""), ("session", "show", ""), ("config", "show", "m")]
)
def test_broken_settings_do_not_write_into_the_line(
    words: tuple[str, ...], text: str, tmp_path: Path
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "truepenny.toml").write_text(text, encoding="utf-8")
    assert completed(tmp_path, *words)[1] == ""
