"""Rows of config maps, secrets and service accounts: counts, never contents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from truepenny.demo.server.columns.common import age
from truepenny.demo.server.table import Printer, columns
from truepenny.demo.server.value import Object, listing, mapping, name_of, text


def _config_map(value: Object, now: datetime) -> Sequence[Any]:
    count = len(mapping(value, "data")) + len(mapping(value, "binaryData"))
    return name_of(value), count, age(value, now)


def _secret(value: Object, now: datetime) -> Sequence[Any]:
    kind = text(value, "type", default="Opaque")
    return name_of(value), kind, len(mapping(value, "data")), age(value, now)


def _service_account(value: Object, now: datetime) -> Sequence[Any]:
    return name_of(value), len(listing(value, "secrets")), age(value, now)


PRINTERS = {
    ("", "ConfigMap"): Printer(columns("Name,Data#,Age"), _config_map),
    ("", "Secret"): Printer(columns("Name,Type,Data#,Age"), _secret),
    ("", "ServiceAccount"): Printer(columns("Name,Secrets#,Age"), _service_account),
}
