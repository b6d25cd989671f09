"""The one list of self-checks, in the order people read them."""

from __future__ import annotations

from .check import Check
from .clusters import clusters, kubectl
from .machine import durability, locking, python, sandbox, space, writable
from .models import default_model, keys
from .settings import redaction, settings

CHECKS: tuple[Check, ...] = (
    Check("python", "Python", python),
    Check("writable", "directories can be written", writable),
    Check("space", "free disk space", space),
    Check("durability", "files survive a power cut", durability),
    Check("locking", "locks between processes", locking),
    Check("settings", "settings", settings),
    Check("redaction", "configured secrets", redaction),
    Check("default_model", "default model", default_model),
    Check("keys", "configured providers", keys),
    Check("kubectl", "kubectl", kubectl),
    Check("clusters", "clusters", clusters),
    Check("sandbox", "sandbox", sandbox),
)
