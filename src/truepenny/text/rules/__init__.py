"""The redaction rules, one list. Add a rule to the file of its kind; a test runs its examples."""

from __future__ import annotations

from truepenny.text.rule import Rule

from . import cloud, code_host, key_material, kubernetes, model_provider, pair, service, web

RULES: tuple[Rule, ...] = (
    key_material.RULES
    + web.RULES
    + cloud.RULES
    + code_host.RULES
    + model_provider.RULES
    + service.RULES
    + kubernetes.RULES
    + pair.RULES
)
"""All rules. Where two find the same place, the earlier one names the mask."""
