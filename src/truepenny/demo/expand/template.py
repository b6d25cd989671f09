"""The pod template of a workload, from shorthand.

    labels, annotations: {key: value}      service_account: name      node_selector: {key: value}
    containers, init: {name: {image, command, args, port | ports, env, env_from, requests, limits,
                              readiness, liveness, startup, mounts, pull, security}}
    tolerations, priority_class, pull_secrets, host_network

`port` is a number (named `http`) and `ports` a mapping of names to numbers. An env value is text,
or one of {configmap: name/key}, {secret: name/key}, {field: path}; a probe is {path, port},
{tcp: port} or {exec: [...]} with every, timeout, fail, delay; a mount maps a path to
{configmap | secret | claim | host: name}, {empty: volume} or, for a stateful set's own claims,
{template: claim}.
"""

from __future__ import annotations

from typing import Any

from .build import Object
from .keys import check

_LATEST = ":latest"


def pod_template(short: dict[str, Any], labels: dict[str, str]) -> Object:
    """Return the template with the fields that an API server defaults."""
    volumes: dict[str, Object] = {}
    spec: Object = {}
    if short.get("init"):
        spec["initContainers"] = [
            _container(name, one, volumes) for name, one in short["init"].items()
        ]
    spec["containers"] = [
        _container(name, one, volumes) for name, one in short["containers"].items()
    ]
    if volumes:
        spec["volumes"] = list(volumes.values())
    spec |= {
        "restartPolicy": short.get("restart_policy", "Always"),
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "securityContext": {},
    }
    account = short.get("service_account")
    if account:
        spec |= {"serviceAccountName": account, "serviceAccount": account}
    plain = {
        "node_selector": "nodeSelector",
        "tolerations": "tolerations",
        "priority_class": "priorityClassName",
        "host_network": "hostNetwork",
    }
    spec |= {field: short[key] for key, field in plain.items() if key in short}
    if "pull_secrets" in short:
        spec["imagePullSecrets"] = [{"name": name} for name in short["pull_secrets"]]
    meta: Object = {"labels": labels}
    if short.get("template_annotations"):
        meta["annotations"] = dict(short["template_annotations"])
    return {"metadata": meta, "spec": spec}


def _container(name: str, short: dict[str, Any], volumes: dict[str, Object]) -> Object:
    check("container", short, f"container {name}")
    image: str = short["image"]
    one: Object = {"name": name, "image": image}
    for key in ("command", "args"):
        if key in short:
            one[key] = short[key]
    ports: dict[str, int] = short.get("ports") or (
        {"http": short["port"]} if "port" in short else {}
    )
    if ports:
        one["ports"] = [
            {"name": label, "containerPort": number, "protocol": _protocol(label)}
            for label, number in ports.items()
        ]
    if "env_from" in short:
        one["envFrom"] = [_source(entry) for entry in short["env_from"]]
    if short.get("env"):
        one["env"] = [_variable(key, value) for key, value in short["env"].items()]
    one["resources"] = {key: dict(short[key]) for key in ("limits", "requests") if short.get(key)}
    if "mounts" in short:
        one["volumeMounts"] = [
            _mount(path, entry, volumes) for path, entry in short["mounts"].items()
        ]
    for key in ("liveness", "readiness", "startup"):
        if short.get(key):
            one[f"{key}Probe"] = _probe(short[key])
    one |= {
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": short.get(
            "pull", "Always" if image.endswith(_LATEST) else "IfNotPresent"
        ),
    }
    if "security" in short:
        one["securityContext"] = short["security"]
    return one


def _protocol(label: str) -> str:
    return "UDP" if label == "dns" else "TCP"


def _source(entry: dict[str, str]) -> Object:
    if "configmap" in entry:
        return {"configMapRef": {"name": entry["configmap"]}}
    return {"secretRef": {"name": entry["secret"]}}


def _variable(name: str, value: Any) -> Object:
    if isinstance(value, str):
        return {"name": name, "value": value}
    if "field" in value:
        field = {"apiVersion": "v1", "fieldPath": value["field"]}
        return {"name": name, "valueFrom": {"fieldRef": field}}
    kind = "configMapKeyRef" if "configmap" in value else "secretKeyRef"
    holder, _, key = str(value.get("configmap") or value["secret"]).partition("/")
    return {"name": name, "valueFrom": {kind: {"name": holder, "key": key}}}


def _mount(path: str, entry: dict[str, Any], volumes: dict[str, Object]) -> Object:
    kind, name = next((key, entry[key]) for key in entry if key != "read_only")
    label = entry["empty"] if kind == "empty" else name.strip("/").replace("/", "-")
    bodies: dict[str, Object] = {
        "configmap": {"configMap": {"name": name, "defaultMode": 420}},
        "secret": {"secret": {"secretName": name, "defaultMode": 420}},
        "claim": {"persistentVolumeClaim": {"claimName": name}},
        "host": {"hostPath": {"path": name, "type": ""}},
        "empty": {"emptyDir": {}},
        "template": {},
    }
    if kind != "template":
        volumes[label] = {"name": label, **bodies[kind]}
    mount: Object = {"name": label, "mountPath": path}
    if entry.get("read_only", kind in ("configmap", "secret")):
        mount["readOnly"] = True
    return mount


def _probe(short: dict[str, Any]) -> Object:
    probe: Object
    if "exec" in short:
        probe = {"exec": {"command": short["exec"]}}
    elif "tcp" in short:
        probe = {"tcpSocket": {"port": short["tcp"]}}
    else:
        probe = {"httpGet": {"path": short["path"], "port": short["port"], "scheme": "HTTP"}}
    if "delay" in short:
        probe["initialDelaySeconds"] = short["delay"]
    return probe | {
        "timeoutSeconds": short.get("timeout", 1),
        "periodSeconds": short.get("every", 10),
        "successThreshold": 1,
        "failureThreshold": short.get("fail", 3),
    }
