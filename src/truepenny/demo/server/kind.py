"""Which kinds the practice cluster serves: one table, read by discovery, routing and printing.

A world's CustomResourceDefinitions add theirs when the cluster starts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from truepenny.demo.server.value import Object, dig, listing, text

READ_VERBS = ("get", "list", "watch")


@dataclass(frozen=True, slots=True)
class Kind:
    """One served resource type; `group` is empty for the core API."""

    group: str
    version: str
    kind: str
    plural: str
    short: tuple[str, ...] = ()
    namespaced: bool = True
    categories: tuple[str, ...] = ()
    subresources: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """(name, response kind, verbs) of each subresource."""
    verbs: tuple[str, ...] = READ_VERBS

    @property
    def api_version(self) -> str:
        """Return `v1` or `group/version`, as objects write it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        """Return the lower-case kind."""
        return self.kind.lower()

    @property
    def resource(self) -> str:
        """Return `plural.group`, as error messages write it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_ALL = ("all",)
_LOG = ("log", "Pod", ("get",))
_EXEC = ("exec", "PodExecOptions", ("create", "get"))
_STATUS = ("status", "", ("get",))
_CORE = ""
_APPS = "apps"
_BATCH = "batch"
_NET = "networking.k8s.io"
_STORAGE = "storage.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_ADMISSION = "admissionregistration.k8s.io"


def _cluster(
    group: str, kind: str, plural: str, short: tuple[str, ...] = (), version: str = "v1"
) -> Kind:
    return Kind(group, version, kind, plural, short, namespaced=False)


KINDS: tuple[Kind, ...] = (
    Kind(_CORE, "v1", "ConfigMap", "configmaps", ("cm",)),
    Kind(_CORE, "v1", "Endpoints", "endpoints", ("ep",)),
    Kind(_CORE, "v1", "Event", "events", ("ev",)),
    Kind(_CORE, "v1", "LimitRange", "limitranges", ("limits",)),
    _cluster(_CORE, "Namespace", "namespaces", ("ns",)),
    _cluster(_CORE, "Node", "nodes", ("no",)),
    Kind(_CORE, "v1", "PersistentVolumeClaim", "persistentvolumeclaims", ("pvc",)),
    _cluster(_CORE, "PersistentVolume", "persistentvolumes", ("pv",)),
    Kind(
        _CORE,
        "v1",
        "Pod",
        "pods",
        ("po",),
        categories=_ALL,
        subresources=(_EXEC, _LOG, _STATUS),
    ),
    Kind(_CORE, "v1", "ReplicationController", "replicationcontrollers", ("rc",), categories=_ALL),
    Kind(_CORE, "v1", "ResourceQuota", "resourcequotas", ("quota",)),
    Kind(_CORE, "v1", "Secret", "secrets"),
    Kind(_CORE, "v1", "ServiceAccount", "serviceaccounts", ("sa",)),
    Kind(_CORE, "v1", "Service", "services", ("svc",), categories=_ALL),
    _cluster(_ADMISSION, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
    _cluster(_ADMISSION, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
    _cluster(
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        ("crd", "crds"),
    ),
    _cluster("apiregistration.k8s.io", "APIService", "apiservices"),
    Kind(_APPS, "v1", "ControllerRevision", "controllerrevisions"),
    Kind(_APPS, "v1", "DaemonSet", "daemonsets", ("ds",), categories=_ALL),
    Kind(_APPS, "v1", "Deployment", "deployments", ("deploy",), categories=_ALL),
    Kind(_APPS, "v1", "ReplicaSet", "replicasets", ("rs",), categories=_ALL),
    Kind(_APPS, "v1", "StatefulSet", "statefulsets", ("sts",), categories=_ALL),
    Kind(
        "autoscaling",
        "v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        ("hpa",),
        categories=_ALL,
    ),
    Kind(_BATCH, "v1", "CronJob", "cronjobs", ("cj",), categories=_ALL),
    Kind(_BATCH, "v1", "Job", "jobs", categories=_ALL),
    Kind("coordination.k8s.io", "v1", "Lease", "leases"),
    Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices"),
    Kind("events.k8s.io", "v1", "Event", "events", ("ev",)),
    _cluster(_NET, "IngressClass", "ingressclasses"),
    Kind(_NET, "v1", "Ingress", "ingresses", ("ing",)),
    Kind(_NET, "v1", "NetworkPolicy", "networkpolicies", ("netpol",)),
    Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", ("pdb",)),
    _cluster(_RBAC, "ClusterRoleBinding", "clusterrolebindings"),
    _cluster(_RBAC, "ClusterRole", "clusterroles"),
    Kind(_RBAC, "v1", "RoleBinding", "rolebindings"),
    Kind(_RBAC, "v1", "Role", "roles"),
    _cluster("scheduling.k8s.io", "PriorityClass", "priorityclasses", ("pc",)),
    _cluster(_STORAGE, "StorageClass", "storageclasses", ("sc",)),
    _cluster(_STORAGE, "VolumeAttachment", "volumeattachments"),
)

IDLE_KINDS: tuple[Kind, ...] = (
    _cluster(_CORE, "ComponentStatus", "componentstatuses", ("cs",)),
    Kind(_CORE, "v1", "PodTemplate", "podtemplates"),
    _cluster(_ADMISSION, "ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
    _cluster(_ADMISSION, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
    _cluster(
        "certificates.k8s.io", "CertificateSigningRequest", "certificatesigningrequests", ("csr",)
    ),
    _cluster("flowcontrol.apiserver.k8s.io", "FlowSchema", "flowschemas"),
    _cluster(
        "flowcontrol.apiserver.k8s.io",
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
    ),
    _cluster(_NET, "IPAddress", "ipaddresses", ("ip",)),
    _cluster(_NET, "ServiceCIDR", "servicecidrs"),
    _cluster("node.k8s.io", "RuntimeClass", "runtimeclasses"),
    _cluster("resource.k8s.io", "DeviceClass", "deviceclasses"),
    Kind("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims"),
    Kind("resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates"),
    _cluster("resource.k8s.io", "ResourceSlice", "resourceslices"),
    _cluster(_STORAGE, "CSIDriver", "csidrivers"),
    _cluster(_STORAGE, "CSINode", "csinodes"),
    Kind(_STORAGE, "v1", "CSIStorageCapacity", "csistoragecapacities"),
    _cluster(_STORAGE, "VolumeAttributesClass", "volumeattributesclasses", ("vac",)),
)
"""Kinds that worlds have none of, served so that the answer is "none" and not "no such type".

They print by name and age.
"""

METRICS_GROUP = "metrics.k8s.io"
METRICS_KINDS: tuple[Kind, ...] = (
    Kind(METRICS_GROUP, "v1beta1", "NodeMetrics", "nodes", namespaced=False, verbs=("get", "list")),
    Kind(METRICS_GROUP, "v1beta1", "PodMetrics", "pods", verbs=("get", "list")),
)
"""Served only where the world has measurements, as by an installed metrics server."""

REVIEW_KINDS: tuple[Kind, ...] = (
    Kind(
        "authentication.k8s.io",
        "v1",
        "SelfSubjectReview",
        "selfsubjectreviews",
        namespaced=False,
        verbs=("create",),
    ),
    Kind(
        "authorization.k8s.io",
        "v1",
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
        namespaced=False,
        verbs=("create",),
    ),
    Kind(
        "authorization.k8s.io",
        "v1",
        "SelfSubjectRulesReview",
        "selfsubjectrulesreviews",
        namespaced=False,
        verbs=("create",),
    ),
)
"""Questions about the caller, asked by POST; the only things one can create here."""


def custom_kinds(definitions: Iterable[Object]) -> tuple[Kind, ...]:
    """Return the kinds that CustomResourceDefinitions serve, one for each served version."""
    kinds: list[Kind] = []
    for definition in definitions:
        names = dig(definition, "spec", "names", default={})
        for version in listing(definition, "spec", "versions"):
            if dig(version, "served", default=True) is False:
                continue
            kinds.append(
                Kind(
                    text(definition, "spec", "group"),
                    text(version, "name"),
                    text(names, "kind"),
                    text(names, "plural"),
                    tuple(listing(names, "shortNames")),
                    text(definition, "spec", "scope") != "Cluster",
                    tuple(listing(names, "categories")),
                )
            )
    return tuple(kinds)


class Catalog:
    """The kinds of one practice cluster, found by path, by object or by group."""

    def __init__(self, definitions: Iterable[Object] = (), *, metrics: bool = False) -> None:
        served = (*KINDS, *IDLE_KINDS, *REVIEW_KINDS, *(METRICS_KINDS if metrics else ()))
        self.kinds: tuple[Kind, ...] = (*served, *custom_kinds(definitions))
        self._by_path = {(k.group, k.version, k.plural): k for k in self.kinds}
        self._by_object = {(k.api_version, k.kind): k for k in self.kinds}

    def by_path(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the kind that a request path names."""
        return self._by_path.get((group, version, plural))

    def by_object(self, value: Object) -> Kind | None:
        """Return the kind that an object says it is."""
        return self._by_object.get((text(value, "apiVersion"), text(value, "kind")))

    def groups(self) -> dict[str, dict[str, list[Kind]]]:
        """Return group -> version -> kinds, in serving order; the core group's name is empty."""
        found: dict[str, dict[str, list[Kind]]] = {}
        for kind in self.kinds:
            found.setdefault(kind.group, {}).setdefault(kind.version, []).append(kind)
        return found
