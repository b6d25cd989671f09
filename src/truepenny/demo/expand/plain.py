"""Objects that are written almost as they are, and what each namespace gets by itself.

    objects: {Kind/namespace/name or Kind/name: {age, labels, annotations, …the object's fields}}

A Secret's `stringData` becomes `data`, and its `helm` the record of a release (see `helm`).
`static` pods belong to a node, as kubelets make them.
"""

from __future__ import annotations

import base64
from typing import Any

from truepenny.demo.timeline import walk
from truepenny.errors import ConfigurationError

from .build import WORLD_AGE, Build, Object, age
from .helm import release_body
from .keys import check
from .pod import expand_pod
from .template import pod_template

_VERSIONS = {
    "v1": "ConfigMap LimitRange Namespace PersistentVolume PersistentVolumeClaim ResourceQuota "
    "Secret Service ServiceAccount",
    "admissionregistration.k8s.io/v1": "MutatingWebhookConfiguration "
    "ValidatingWebhookConfiguration",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition",
    "apiregistration.k8s.io/v1": "APIService",
    "autoscaling/v2": "HorizontalPodAutoscaler",
    "cert-manager.io/v1": "Certificate CertificateRequest ClusterIssuer Issuer",
    "networking.k8s.io/v1": "Ingress IngressClass NetworkPolicy",
    "policy/v1": "PodDisruptionBudget",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "scheduling.k8s.io/v1": "PriorityClass",
    "scheduling.volcano.sh/v1beta1": "Queue",
    "storage.k8s.io/v1": "StorageClass VolumeAttachment",
}
_VERSION_OF = {kind: version for version, kinds in _VERSIONS.items() for kind in kinds.split()}

_META = ("age", "labels", "annotations", "finalizers", "deleting")


def expand_object(build: Build, reference: str, short: dict[str, Any]) -> None:
    """Add an object from its reference and fields; an unknown kind raises ConfigurationError."""
    kind, _, rest = reference.partition("/")
    namespace, _, name = rest.rpartition("/")
    if kind not in _VERSION_OF:
        raise ConfigurationError(f"{kind} is no kind that an incident may write", where=reference)
    body: Object = {key: value for key, value in short.items() if key not in _META}
    labels: dict[str, str] = short.get("labels", {})
    if kind == "Secret" and "helm" in body:
        packed, found_by = release_body(build, namespace, name, body.pop("helm"))
        body, labels = packed | body, found_by | labels
    meta = build.meta(
        kind, namespace, name, age(short.get("age"), WORLD_AGE),
        labels=labels, annotations=short.get("annotations"),
    )  # fmt: skip
    if "finalizers" in short:
        meta["finalizers"] = short["finalizers"]
    if "deleting" in short:
        meta["deletionTimestamp"] = build.timeline.stamp(short["deleting"])
        meta["deletionGracePeriodSeconds"] = 0
    if "stringData" in body:
        plain: dict[str, str] = body.pop("stringData")
        body["data"] = {
            key: base64.b64encode(value.encode()).decode() for key, value in plain.items()
        }
    build.add({"apiVersion": _VERSION_OF[kind], "kind": kind, "metadata": meta, **body})


def expand_namespace(build: Build, name: str, short: dict[str, Any]) -> None:
    """Add a namespace with its default service account and the cluster's CA."""
    born = age(short.get("age"), WORLD_AGE)
    labels = {"kubernetes.io/metadata.name": name, **short.get("labels", {})}
    meta = build.meta("Namespace", "", name, born, labels=labels)
    status: Object = {"phase": "Active"}
    if "deleting" in short:
        meta["deletionTimestamp"] = build.timeline.stamp(short["deleting"])
        status = {"phase": "Terminating", "conditions": short["conditions"]}
    build.add(
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": meta,
            "spec": {"finalizers": ["kubernetes"]},
            "status": walk(status, build.timeline.resolve),
        }
    )
    if "deleting" in short:
        return  # what every namespace gets was deleted first
    expand_object(build, f"ServiceAccount/{name}/default", {"age": born})
    authority = "-----BEGIN CERTIFICATE-----\nMIIBpracticeclusterCA\n-----END CERTIFICATE-----\n"
    expand_object(
        build, f"ConfigMap/{name}/kube-root-ca.crt", {"age": born, "data": {"ca.crt": authority}}
    )


def expand_static_pod(build: Build, key: str, short: dict[str, Any]) -> None:
    """Add the mirror pod `namespace/name` of a static pod; its name ends with the node's."""
    namespace, _, name = key.partition("/")
    check("static pod", short, key)
    node = build.find(f"Node/{short['node']}")
    template = pod_template(short, {"component": short["component"], "tier": "control-plane"})
    template["metadata"]["annotations"] = {
        "kubernetes.io/config.source": "file",
        "kubernetes.io/config.hash": node["metadata"]["uid"].replace("-", ""),
    }
    pod = expand_pod(
        build, node, namespace, name, template, {"age": WORLD_AGE, "node": short["node"]}
    )
    build.pods_of[key] = [pod]
