"""Helm's records of releases: Secrets of type helm.sh/release.v1 with the whole release inside.

A Secret with `helm: {chart, version, app_version, revision, status, values, templates, updated}`
gets the payload that Helm writes: JSON, gzip, base64, and base64 once more as every Secret. All of
it is in there, `values` with whatever secrets somebody put into them, and the rendered manifest.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

from truepenny.demo.timeline import walk

from .build import Build, Object, age
from .keys import check

TYPE = "helm.sh/release.v1"


def secret_name(release: str, revision: int) -> str:
    """Return the name of the Secret that holds a revision of a release."""
    return f"sh.helm.release.v1.{release}.v{revision}"


def release_body(
    build: Build, namespace: str, name: str, short: dict[str, Any]
) -> tuple[Object, dict[str, str]]:
    """Return `type` and `data` of the Secret, and the labels that Helm finds it by."""
    where = f"Secret/{namespace}/{name}"
    check("helm", short, where)
    revision, status = short.get("revision", 1), short.get("status", "deployed")
    release = name.removeprefix("sh.helm.release.v1.").rpartition(".v")[0]
    assert name == secret_name(release, revision), f"{where} is not named after its revision"
    updated = build.timeline.ago(age(short.get("updated"), "30d"))
    templates: dict[str, str] = walk(short.get("templates", {}), build.timeline.resolve)
    payload: Object = {
        "name": release,
        "info": {
            "first_deployed": build.timeline.stamp("30d"),
            "last_deployed": build.timeline.stamp(age(short.get("updated"), "30d")),
            "deleted": "",
            "description": short.get("description", "Install complete"),
            "status": status,
        },
        "chart": {
            "metadata": {
                "name": short["chart"],
                "version": short["version"],
                "appVersion": short.get("app_version", short["version"]),
                "apiVersion": "v2",
            },
            "templates": [
                {"name": f"templates/{file}", "data": _base64(text.encode())}
                for file, text in templates.items()
            ],
            "values": {},
        },
        "config": walk(short.get("values", {}), build.timeline.resolve),
        "manifest": "".join(
            f"---\n# Source: {short['chart']}/templates/{file}\n{text}"
            for file, text in templates.items()
        ),
        "version": revision,
        "namespace": namespace,
    }
    # No time in the gzip header: the same world is the same bytes.
    packed = gzip.compress(json.dumps(payload, sort_keys=True).encode(), mtime=0)
    labels = {
        "modifiedAt": str(int(updated.timestamp())),
        "name": release,
        "owner": "helm",
        "status": status,
        "version": str(revision),
    }
    return {"type": TYPE, "data": {"release": _base64(_base64(packed).encode())}}, labels


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
