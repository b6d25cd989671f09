"""A machine for scripts that are sent to one: a PATH of its own, and bash that reads its stdin."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

SKILLS = Path(__file__).parents[2] / "skills"


class Target:
    """A folder that is the whole PATH: the named programs of this machine, and recorded ones."""

    def __init__(self, folder: Path, *programs: str) -> None:
        self.folder = folder
        for name in programs:
            found = shutil.which(name)
            assert found is not None, name
            (folder / name).symlink_to(os.path.realpath(found))

    def record(self, name: str, out: str | bytes = b"", code: int = 0, err: str = "") -> None:
        """A program that keeps its arguments and answers always the same."""
        (self.folder / f"{name}.out").write_bytes(out.encode() if isinstance(out, str) else out)
        program = self.folder / name
        program.unlink(missing_ok=True)
        program.write_text(
            "#!/bin/bash\n"
            f"printf '%s\\n' \"$@\" > {shlex.quote(str(self.folder / f'{name}.words'))}\n"
            f"/bin/cat {shlex.quote(str(self.folder / f'{name}.out'))}\n"
            f"printf %s {shlex.quote(err)} >&2\n"
            f"exit {code}\n"
        )
        program.chmod(0o755)

    def words(self, name: str) -> list[str]:
        return (self.folder / f"{name}.words").read_text().splitlines()

    def run(self, text: str, arguments: str) -> subprocess.CompletedProcess[bytes]:
        """What a machine does with a script: `bash -s -- ARGUMENTS`, the text on its stdin."""
        return subprocess.run(
            ["/bin/bash", "-s", "--", *shlex.split(arguments)],
            input=text.encode(),
            env={"PATH": str(self.folder)},
            capture_output=True,
            timeout=60,
            check=False,
        )


def status(done: subprocess.CompletedProcess[bytes], known: set[str]) -> str:
    """The status of a report, after what holds of each one was checked."""
    lines = done.stdout.decode("utf-8", "replace").split("\n")
    assert lines[-1] == "", done
    assert [line for line in lines if line.startswith("status:")] == [lines[-2]], done
    assert lines[0].startswith("source: "), done
    assert b"\x1b" not in done.stdout
    said = lines[-2].removeprefix("status: ")
    assert said in known
    return said
