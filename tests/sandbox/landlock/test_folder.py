from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.inside import plan_of
from truepenny.sandbox.landlock.folder import OwnFolders


def test_nothing_is_given_away_in_a_folder_that_was_given_away(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(folder)
    chown, given = os.chown, list[Path]()

    def watched(path: Path, *owner: int, **options: Any) -> None:
        # What lies in a folder of the account's may be a link by now, to anything of ours.
        assert path.parent.stat().st_uid == os.geteuid()
        given.append(path)
        chown(path, *owner, **options)

    monkeypatch.setattr(os, "chown", watched)
    with ExitStack() as stack:
        made = OwnFolders(plan, stack)
        temporary, home = (Path(made.translate(name)) for name in ("/tmp", "/tmp/home"))
        assert home.parent == temporary
        assert {path.stat().st_uid for path in (temporary, home)} == {plan.account.uid}
    assert given == ([home, temporary] if plan.account.drop else [])
    assert not temporary.exists()
