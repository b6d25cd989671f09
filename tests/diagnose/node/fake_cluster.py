"""A kubectl that makes debug Jobs of its own: their pods run here, and what is run in them too."""

from __future__ import annotations

import json
from typing import Any

from tests.diagnose.fake_kubectl import FakeKubectl
from truepenny.diagnose.cluster import Cluster

_BODY = """
import subprocess, pathlib
folder = pathlib.Path({folder!r})
words = sys.argv[1:]
verb = next(w for w in words if w in ("create", "get", "delete", "exec"))
state = json.loads((folder / "state.json").read_text())
jobs = folder / "jobs"
if verb in state.get("fails", ()):
    sys.stderr.write(state["fails"][verb] + "\\n"); sys.exit(1)
if verb == "create":
    job = json.loads(sys.stdin.read())
    (jobs / job["metadata"]["name"]).write_text(json.dumps(job))
elif verb == "delete":
    (jobs / words[words.index("job") + 1]).unlink(missing_ok=True)
elif "node" in words:
    ready = {{"type": "Ready", "status": state.get("ready", "True")}}
    print(json.dumps({{"kind": "Node", "apiVersion": "v1", "metadata": {{"name": "worker-1"}},
        "status": {{"conditions": [ready]}}}}))
elif "jobs" in words:
    print(json.dumps({{"items": [json.loads(one.read_text()) for one in jobs.iterdir()]}}))
elif "pods" in words:
    pod = {{"metadata": {{"name": "debug-pod"}}, "status": {{"phase": "Running",
        "containerStatuses": [{{"state": state.get("state", {{"running": {{}}}})}}]}}}}
    print(json.dumps({{"items": [pod]}}))
else:
    env = {{"PATH": str(folder / "bin") + ":/usr/bin:/bin"}}
    done = subprocess.run(words[words.index("--") + 1:], env=env)
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    if code:
        sys.stderr.write(f"command terminated with exit code {{code}}\\n")
    sys.exit(code)
"""

_NSENTER = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""


class FakeCluster:
    """One cluster in a folder of the test. `set` says how it behaves from now on."""

    def __init__(self, fake: FakeKubectl) -> None:
        self.fake, self.folder = fake, fake.folder
        (self.folder / "jobs").mkdir()
        (self.folder / "bin").mkdir()
        program = self.folder / "bin" / "nsenter"
        program.write_text(_NSENTER, encoding="utf-8")
        program.chmod(0o755)
        self.set()
        fake.does(_BODY.format(folder=str(self.folder)))

    def set(self, **state: Any) -> None:
        (self.folder / "state.json").write_text(json.dumps(state), encoding="utf-8")

    def without_nsenter(self) -> None:
        """As in an image that cannot enter: it says so in nsenter's words."""
        program = self.folder / "bin" / "nsenter"
        program.write_text(
            "#!/bin/sh\necho 'nsenter: reassociate to namespace failed' >&2; exit 1\n",
            encoding="utf-8",
        )

    @property
    def jobs(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "jobs").iterdir())

    def add_job(self, name: str, owner: str) -> None:
        job = {"metadata": {"name": name, "annotations": {"truepenny.dev/owner": owner}}}
        (self.folder / "jobs" / name).write_text(json.dumps(job), encoding="utf-8")

    def verbs(self) -> list[str]:
        known = ("create", "get", "delete", "exec")
        return [next(w for w in call["argv"] if w in known) for call in self.fake.calls]

    def cluster(self, **changes: Any) -> Cluster:
        told = {"debug_jobs": True, "debug_image": "busybox:1.36", **changes}
        return self.fake.cluster(**told)
