"""The machine that a time is measured on."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from .perf_budget import HostFacts

UNKNOWN = "unknown"


def host_facts() -> HostFacts:
    """Return what is known; the version of node stays empty, for no check of ours asks node."""
    return HostFacts(
        hostname=platform.node() or UNKNOWN,
        platform=sys.platform,
        arch=platform.machine() or UNKNOWN,
        cpuModel=_cpu_model(),
        cpuCount=os.cpu_count() or 0,
        totalMemoryBytes=_memory(),
    )


def _cpu_model() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() in ("model name", "Model"):
                    return value.strip()
    except OSError:
        pass
    return platform.processor() or UNKNOWN


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
