"""What searches leave out unless a call asks for it; the one list for find and grep."""

from __future__ import annotations

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj"})
"""Never searched: the store of a version control tool, not what somebody wrote."""

GENERATED = frozenset(
    {
        "node_modules", "dist", "build", "coverage", "target", ".venv", ".next", ".cache",
        ".pytest_cache", ".turbo", "__pycache__",
    }
)  # fmt: skip
"""Left out unless `include_ignored`: made by tools, and often larger than all the rest."""
