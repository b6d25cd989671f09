"""The one list of self-checks, in the order people read them."""

from __future__ import annotations

from .check import Check
from .clusters import clusters, kubectl
from .containment import account, bubblewrap, limits, network, sandbox
from .credentials import credentials
from .execution import ripgrep, shell, tool_server
from .hosts import hosts
from .machine import durability, locking, python, space, writable
from .models import default_model, keys
from .programs import background, interpreters, project_checks
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
    Check("hosts", "hosts", hosts),
    Check("sandbox", "what can hold commands", sandbox),
    Check("bubblewrap", "bubblewrap", bubblewrap),
    Check("limits", "limits of a run", limits),
    Check("account", "who commands are", account),
    Check("shell", "shell", shell),
    Check("ripgrep", "search", ripgrep),
    Check("tool_server", "tool server", tool_server),
    Check("background", "commands in the background", background),
    Check("interpreters", "interpreters of scripts", interpreters),
    Check("project_checks", "programs of checks", project_checks),
    Check("network", "network of commands", network),
    Check("credentials", "credentials of programs", credentials),
)
