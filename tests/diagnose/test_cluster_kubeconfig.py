"""What is read from kubeconfig files, and what happens with bad ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from truepenny.diagnose.cluster_kubeconfig import default_files, read_kubeconfig
from truepenny.errors import ConfigurationError

CONFIG = """
apiVersion: v1
kind: Config
current-context: stage
contexts:
- name: stage
  context: {cluster: c1, user: u1, namespace: web}
- name: prod
  context: {cluster: c2, user: u2}
- name: loose
  context: {cluster: nowhere, user: nobody}
clusters:
- name: c1
  cluster: {server: "https://admin:hunter2@stage.example:6443/path"}
- name: c2
  cluster: {server: "https://prod.example"}
users:
- name: u1
  user: {token: very-secret-token}
- name: u2
  user: {exec: {command: cloud-login, apiVersion: v1}}
"""


def write(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_contexts_are_resolved_without_their_credentials(tmp_path: Path) -> None:
    config = read_kubeconfig(write(tmp_path / "config", CONFIG))
    stage, prod, loose = (config.context(name) for name in ("stage", "prod", "loose"))
    assert stage is not None
    assert (stage.server, stage.namespace, stage.user) == ("stage.example:6443", "web", "u1")
    assert prod is not None
    assert (prod.server, prod.namespace, prod.plugin) == ("prod.example", "default", "cloud-login")
    assert loose is not None
    assert loose.server == ""
    assert config.context(None) is stage
    assert "hunter2" not in repr(config)
    assert "secret" not in repr(config)


def test_the_first_file_that_names_a_thing_defines_it(tmp_path: Path) -> None:
    first = write(
        tmp_path / "a",
        "contexts: [{name: stage, context: {cluster: c2}}]\ncurrent-context: prod\n",
    )
    second = write(tmp_path / "b", CONFIG)
    config = read_kubeconfig(os.pathsep.join((first, str(tmp_path / "gone"), second)))
    stage = config.context("stage")
    assert stage is not None
    assert stage.server == "prod.example"
    assert config.current == "prod"


def test_what_is_not_there_is_no_context(tmp_path: Path) -> None:
    assert read_kubeconfig(str(tmp_path / "gone")).contexts == ()
    assert read_kubeconfig(write(tmp_path / "empty", "")).contexts == ()


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "- a list",
        "just words",
        "contexts: {}\nclusters: {a: b}",
        b"\xff\xfe\x00bad",
        "token: &a [*a, *b]",
        "!!python/object/apply:os.system ['true']",
    ],
)
def test_unreadable_is_not_absent(tmp_path: Path, text: str | bytes) -> None:
    file = write(tmp_path / "config", text)
    with pytest.raises(ConfigurationError) as caught:
        read_kubeconfig(file)
    assert caught.value.where == file
    assert caught.value.exit_code == 3


def test_the_message_about_a_bad_file_quotes_none_of_it(tmp_path: Path) -> None:
    file = write(tmp_path / "config", "users: [{name: u, user: {token: tops3cret, : ]")
    with pytest.raises(ConfigurationError) as caught:
        read_kubeconfig(file)
    assert "tops3cret" not in str(caught.value)


def test_a_folder_or_a_huge_file_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        read_kubeconfig(str(tmp_path))
    with pytest.raises(ConfigurationError):
        read_kubeconfig(write(tmp_path / "huge", b"#" * (4 * 1024 * 1024 + 1)))


def test_the_default_is_that_of_kubectl() -> None:
    assert default_files({"HOME": "/h"}) == "/h/.kube/config"
    assert default_files({"HOME": "/h", "KUBECONFIG": "/a:/b"}) == "/a:/b"


def test_parts_of_the_wrong_shape_leave_a_context_without_a_server(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(
        "contexts: [1, null, {name: a, context: 5}, {name: b, context: {cluster: q, user: u}},"
        " {name: c, context: {cluster: r}}]\n"
        "clusters: [{name: q, cluster: 7}, {name: r, cluster: {server: 'http://[::1'}}]\n"
        "users: [{name: u, user: hi}]\n",
        encoding="utf-8",
    )
    found = read_kubeconfig(str(path))
    assert [(context.name, context.server) for context in found.contexts] == [
        ("a", ""),
        ("b", ""),
        ("c", ""),
    ]


def test_a_pipe_is_neither_waited_for_nor_drained(tmp_path: Path) -> None:
    path = tmp_path / "config"
    os.mkfifo(path)
    with pytest.raises(ConfigurationError):
        read_kubeconfig(str(path))


@pytest.mark.parametrize("text", ["contexts: 2001-99-99", f"contexts: {'9' * 5000}"])
def test_yaml_of_impossible_values_is_unreadable(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError):
        read_kubeconfig(str(path))
