"""Rows of volumes, claims, classes and attachments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from truepenny.demo.server.columns.common import UNSET, age, modes
from truepenny.demo.server.table import Printer, columns
from truepenny.demo.server.value import Object, dig, mapping, name_of, text

_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def _claim(value: Object, now: datetime) -> Sequence[Any]:
    phase = text(value, "status", "phase")
    if dig(value, "metadata", "deletionTimestamp"):
        phase = "Terminating"
    bound = bool(text(value, "spec", "volumeName"))
    return (
        name_of(value),
        phase,
        text(value, "spec", "volumeName"),
        text(value, "status", "capacity", "storage") if bound else "",
        modes(value, "status", "accessModes") if bound else "",
        text(value, "spec", "storageClassName"),
        text(value, "spec", "volumeAttributesClassName") or UNSET,
        age(value, now),
        text(value, "spec", "volumeMode") or UNSET,
    )


def _volume(value: Object, now: datetime) -> Sequence[Any]:
    claim = mapping(value, "spec", "claimRef")
    phase = text(value, "status", "phase")
    if dig(value, "metadata", "deletionTimestamp"):
        phase = "Terminating"
    return (
        name_of(value),
        text(value, "spec", "capacity", "storage"),
        modes(value, "spec", "accessModes"),
        text(value, "spec", "persistentVolumeReclaimPolicy"),
        phase,
        f"{text(claim, 'namespace')}/{text(claim, 'name')}" if claim else "",
        text(value, "spec", "storageClassName"),
        text(value, "spec", "volumeAttributesClassName") or UNSET,
        text(value, "status", "reason"),
        age(value, now),
        text(value, "spec", "volumeMode") or UNSET,
    )


def _class(value: Object, now: datetime) -> Sequence[Any]:
    name = name_of(value)
    if mapping(value, "metadata", "annotations").get(_DEFAULT_CLASS) == "true":
        name += " (default)"
    return (
        name,
        text(value, "provisioner"),
        text(value, "reclaimPolicy", default="Delete"),
        text(value, "volumeBindingMode", default="Immediate"),
        "true" if dig(value, "allowVolumeExpansion") else "false",
        age(value, now),
    )


def _attachment(value: Object, now: datetime) -> Sequence[Any]:
    return (
        name_of(value),
        text(value, "spec", "attacher"),
        text(value, "spec", "source", "persistentVolumeName"),
        text(value, "spec", "nodeName"),
        "true" if dig(value, "status", "attached") else "false",
        age(value, now),
    )


PRINTERS = {
    ("", "PersistentVolumeClaim"): Printer(
        columns(
            "Name,Status,Volume,Capacity,Access Modes,StorageClass,VolumeAttributesClass,Age",
            "VolumeMode",
        ),
        _claim,
    ),
    ("", "PersistentVolume"): Printer(
        columns(
            "Name,Capacity,Access Modes,Reclaim Policy,Status,Claim,StorageClass,"
            "VolumeAttributesClass,Reason,Age",
            "VolumeMode",
        ),
        _volume,
    ),
    ("storage.k8s.io", "StorageClass"): Printer(
        columns("Name,Provisioner,ReclaimPolicy,VolumeBindingMode,AllowVolumeExpansion,Age"), _class
    ),
    ("storage.k8s.io", "VolumeAttachment"): Printer(
        columns("Name,Attacher,PV,Node,Attached,Age"), _attachment
    ),
}
