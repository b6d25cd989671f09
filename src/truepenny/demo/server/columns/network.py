"""Rows of services, their endpoints, ingresses and network policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from truepenny.demo.server.columns.common import NONE, UNSET, age, labels, selector, some
from truepenny.demo.server.table import Printer, columns
from truepenny.demo.server.value import Object, dig, listing, mapping, name_of, text


def _addresses(value: Object) -> list[str]:
    return [
        text(entry, "ip") or text(entry, "hostname")
        for entry in listing(value, "status", "loadBalancer", "ingress")
    ]


def _external(value: Object) -> str:
    kind = text(value, "spec", "type", default="ClusterIP")
    if kind == "ExternalName":
        return text(value, "spec", "externalName")
    listed: list[str] = list(listing(value, "spec", "externalIPs"))
    if kind == "LoadBalancer":
        listed = [*_addresses(value), *listed]
        return ",".join(listed) or "<pending>"
    return ",".join(listed) or NONE


def _service_port(port: Object) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{text(port, 'port')}{node}/{text(port, 'protocol', default='TCP')}"


def _service(value: Object, now: datetime) -> Sequence[Any]:
    kind = text(value, "spec", "type", default="ClusterIP")
    ports = ",".join(_service_port(port) for port in listing(value, "spec", "ports"))
    return (
        name_of(value),
        kind,
        text(value, "spec", "clusterIP") or NONE,
        _external(value),
        ports or NONE,
        age(value, now),
        labels(mapping(value, "spec", "selector")),
    )


def _endpoint_addresses(value: Object) -> Iterator[str]:
    for subset in listing(value, "subsets"):
        ports = listing(subset, "ports")
        for address in listing(subset, "addresses"):
            if not ports:
                yield text(address, "ip")
            for port in ports:
                yield f"{text(address, 'ip')}:{text(port, 'port')}"


def _endpoints(value: Object, now: datetime) -> Sequence[Any]:
    return name_of(value), some(_endpoint_addresses(value)), age(value, now)


def _endpoint_slice(value: Object, now: datetime) -> Sequence[Any]:
    ports = [text(port, "port", default="*") for port in listing(value, "ports")]
    found = [a for entry in listing(value, "endpoints") for a in listing(entry, "addresses")]
    return (
        name_of(value),
        text(value, "addressType"),
        some(ports) if ports else UNSET,
        some(found) if found else UNSET,
        age(value, now),
    )


def _ingress(value: Object, now: datetime) -> Sequence[Any]:
    hosts = [text(rule, "host") or "*" for rule in listing(value, "spec", "rules")]
    return (
        name_of(value),
        text(value, "spec", "ingressClassName") or NONE,
        some(hosts) if hosts else "*",
        ",".join(_addresses(value)),
        "80, 443" if listing(value, "spec", "tls") else "80",
        age(value, now),
    )


def _ingress_class(value: Object, now: datetime) -> Sequence[Any]:
    parameters = mapping(value, "spec", "parameters")
    named = NONE
    if parameters:
        group = text(parameters, "apiGroup")
        kind = text(parameters, "kind")
        named = f"{kind}{'.' + group if group else ''}/{text(parameters, 'name')}"
    return name_of(value), text(value, "spec", "controller"), named, age(value, now)


def _network_policy(value: Object, now: datetime) -> Sequence[Any]:
    return name_of(value), selector(dig(value, "spec", "podSelector")), age(value, now)


PRINTERS = {
    ("", "Service"): Printer(
        columns("Name,Type,Cluster-IP,External-IP,Port(s),Age", "Selector"), _service
    ),
    ("", "Endpoints"): Printer(columns("Name,Endpoints,Age"), _endpoints),
    ("discovery.k8s.io", "EndpointSlice"): Printer(
        columns("Name,AddressType,Ports,Endpoints,Age"), _endpoint_slice
    ),
    ("networking.k8s.io", "Ingress"): Printer(
        columns("Name,Class,Hosts,Address,Ports,Age"), _ingress
    ),
    ("networking.k8s.io", "IngressClass"): Printer(
        columns("Name,Controller,Parameters,Age"), _ingress_class
    ),
    ("networking.k8s.io", "NetworkPolicy"): Printer(
        columns("Name,Pod-Selector,Age"), _network_policy
    ),
}
