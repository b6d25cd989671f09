"""The settings tree: every key, its type and limits, and the only place of its default.

The same fields make the file (`truepenny.toml`), the environment names and `config show`. A field's
description is one sentence for a person. Times are seconds, sizes are bytes, None means "not set:
the part that needs it decides". Instances are frozen; `truepenny.config.load` makes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_core import PydanticCustomError

from . import secret
from .bounds import MAX_PROGRAM_SECONDS, MAX_TOOL_CALLS, MAX_TURNS

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
"""A name people type: of a provider or a cluster. No slash, so that `provider/model` is clear."""

Variable = Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]{0,126}$")]
"""A variable's name. In capitals, as an environment variable of ours that sets it must be."""

Seconds = Annotated[float, Field(gt=0, le=86_400)]
"""A limit of time. A day is longer than any single request or run should take."""

Patience = Annotated[float, Field(ge=0, le=86_400)]
"""A limit of waiting; zero waits for ever."""

Strings = Annotated[tuple[str, ...], Field(strict=False)]
"""A TOML array of strings; the array becomes a tuple, its elements are not converted."""

Secrets = Annotated[tuple[SecretStr, ...], Field(strict=False)]
"""A TOML array of secrets or references to them."""


RULE = "rule"
"""Type of an error that is about a whole table: its sentence is complete without the value."""


class Section(BaseModel):
    """What all tables share: no conversion, no NaN or infinity, no change after loading."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
    )


class ModelSettings(Section):
    """Which model answers, and how long it may take."""

    default: str | None = Field(
        default=None, min_length=1, description="Model used when none is named: `provider/model`."
    )
    max_output_tokens: int | None = Field(
        default=None,
        ge=1,
        le=10_000_000,
        description="Longest answer; not set: the profile's value.",
    )
    effort: Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"] | None = Field(
        default=None,
        description="How much a reasoning model thinks; not set: the provider's choice.",
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="Sampling temperature, where the model supports one."
    )
    connect_timeout: Patience = Field(default=10.0, description="Seconds to reach the provider.")
    first_byte_timeout: Patience = Field(
        default=300.0, description="Seconds from the sent request to the first byte of the answer."
    )
    idle_timeout: Patience = Field(
        default=120.0, description="Longest silence in seconds inside an answer that has begun."
    )


class ModelOverrides(Section):
    """What is known better about one model; each key beats the profile and what was learned."""

    id: str | None = Field(
        default=None,
        min_length=1,
        description="Name sent to the provider, if it is not the key's own.",
    )
    profile: str | None = Field(
        default=None, description="Profile to use instead of the matching one."
    )
    context_window: int | None = Field(
        default=None, ge=256, description="Tokens of input and output."
    )
    max_output_tokens: int | None = Field(
        default=None, ge=1, description="Longest answer when nobody asks for another length."
    )
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = Field(
        default=None, description="Request field of the longest answer (openai_chat)."
    )
    thinking: Literal["none", "budget", "adaptive", "effort"] | None = Field(
        default=None, description="How thinking is asked for."
    )
    efforts: Strings | None = Field(
        default=None, description="Effort words the model takes, weakest first."
    )
    thinking_off: bool | None = Field(
        default=None, description="Whether adaptive thinking can be switched off."
    )
    temperature: bool | None = Field(default=None, description="Whether a temperature may be sent.")
    stream_usage: bool | None = Field(
        default=None, description="Whether usage is asked for in a stream (openai_chat)."
    )
    system_role: Literal["system", "developer"] | None = Field(
        default=None, description="Role of the system prompt (openai_chat)."
    )
    images: bool | None = Field(default=None, description="Whether the model reads images.")
    result_images: bool | None = Field(
        default=None, description="Whether images in tool results may be sent."
    )
    tools: bool | None = Field(default=None, description="Whether the model takes tool schemas.")
    parallel_tool_calls: bool | None = Field(
        default=None, description="Whether several calls may come in one answer."
    )
    cache_markers: bool | None = Field(
        default=None, description="Whether to mark what the provider should cache."
    )
    reasoning_history: bool | None = Field(
        default=None, description="Whether earlier reasoning is sent back."
    )
    text_tool_calls: bool | None = Field(
        default=None, description="Whether tool calls written as text are understood."
    )
    reports_cost: bool | None = Field(
        default=None, description="Whether the provider reports what it charged."
    )
    extra_body: dict[str, Any] | None = Field(
        default=None, description="More fields of the request, sent as they are."
    )

    def pinned(self) -> Mapping[str, Any]:
        """Return the profile fields that a person set."""
        return self.model_dump(exclude={"id", "profile"}, exclude_none=True)


class ProviderSettings(Section):
    """One place that serves models. A known provider's name fills in what is not written."""

    wire: Literal["anthropic_messages", "openai_chat", "openai_responses", "local"] | None = Field(
        default=None, description="Protocol it speaks; not needed for a known provider."
    )
    base_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s/?#@]+(/[^\s?#]*)?$",
        description="Address as its documentation writes it, such as `https://host/v1`.",
    )
    api_key: SecretStr | None = Field(
        default=None, description="Key: `env:NAME`, `file:PATH` or the key itself."
    )
    headers: dict[str, SecretStr] = Field(
        default={}, description="Further request headers; values may be `env:NAME` or `file:PATH`."
    )
    profile: str | None = Field(default=None, description="Profile of all its models.")
    model_path: str | None = Field(
        default=None, min_length=1, description="GGUF file that the `local` wire runs."
    )
    context_window: int | None = Field(
        default=None,
        ge=256,
        le=10_000_000,
        description="Context that the `local` wire makes room for.",
    )
    threads: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="Processor threads of the `local` wire; not set: all.",
    )
    models: dict[str, ModelOverrides] = Field(
        default={}, description="Models to list, each a table that may be empty."
    )

    def resolved_key(self, env: Mapping[str, str]) -> str | None:
        """Return the key itself, or None if none is set; ConfigurationError if it is not there."""
        return None if self.api_key is None else secret.resolve(self.api_key, env)

    def resolved_headers(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the headers with references resolved; ConfigurationError if one is not there."""
        return {name: secret.resolve(value, env) for name, value in self.headers.items()}


class ClusterSettings(Section):
    """One Kubernetes cluster that tools may reach, by the name people use for it."""

    kubeconfig: str | None = Field(
        default=None,
        min_length=1,
        description="Kubeconfig file; not set: KUBECONFIG or ~/.kube/config.",
    )
    context: str | None = Field(
        default=None, min_length=1, description="Context in it; not set: its current context."
    )
    description: str = Field(default="", description="What the cluster is for; the model reads it.")
    production: bool = Field(default=False, description="Whether people depend on it right now.")
    require_read_only: bool = Field(
        default=False,
        description="Refuse to read it while its credential can write, or while that is unknown.",
    )
    debug_jobs: bool = Field(
        default=False,
        description="Whether a privileged Job may be made in it for the time a node is read.",
    )
    debug_image: str = Field(
        default="busybox:1.36", min_length=1, description="Image of such a Job; it needs nsenter."
    )
    debug_namespace: str = Field(
        default="default",
        max_length=63,
        pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$",
        description="Namespace of such a Job, which must be there.",
    )


def _rule(sentence: str) -> PydanticCustomError:
    return PydanticCustomError(RULE, "{sentence}", {"sentence": sentence})


class HostSettings(Section):
    """One machine that is reached over SSH, by the name people use for it."""

    address: str = Field(
        max_length=253,
        pattern=r"^[A-Za-z0-9_\[:][A-Za-z0-9._:%\]-]*$",
        description="Name or address, as the jump host before it sees it.",
    )
    port: int = Field(default=22, ge=1, le=65_535, description="Port of its SSH server.")
    user: str = Field(
        pattern=r"^[^\s\x00-\x1f:@-][^\s\x00-\x1f:@]{0,127}$", description="Account there."
    )
    auth: Literal["key", "password", "agent"] = Field(
        default="key", description="How to log in; `agent` asks the one of SSH_AUTH_SOCK."
    )
    password: SecretStr | None = Field(
        default=None, description="Password: `env:NAME`, `file:PATH` or the password itself."
    )
    key: SecretStr | None = Field(
        default=None, description="Private key: `file:PATH`, `env:NAME` or the key's text."
    )
    passphrase: SecretStr | None = Field(
        default=None, description="Passphrase of the key: `env:NAME`, `file:PATH` or the text."
    )
    jump: str | None = Field(
        default=None, min_length=1, description="Host to go through, by its name; 3 at most."
    )
    description: str = Field(default="", description="What it is for; the model reads it.")
    production: bool = Field(default=False, description="Whether people depend on it right now.")

    @model_validator(mode="after")
    def _one_way_in(self) -> HostSettings:
        wanted = {"key": "key", "password": "password", "agent": None}[self.auth]
        if wanted is not None and getattr(self, wanted) is None:
            raise _rule(f"needs {wanted}, as its auth is {self.auth!r}")
        for name, way in (("password", "password"), ("key", "key"), ("passphrase", "key")):
            if way != self.auth and getattr(self, name) is not None:
                raise _rule(f"has {name}, which auth = {self.auth!r} never uses")
        return self


class KubectlSettings(Section):
    """The kubectl program."""

    path: str | None = Field(
        default=None, min_length=1, description="The program; not set: the one on PATH."
    )


class RunSettings(Section):
    """Limits of one run."""

    max_turns: int = Field(
        default=MAX_TURNS, ge=1, le=10_000, description="Most requests to the model."
    )
    max_tool_calls: int = Field(
        default=MAX_TOOL_CALLS, ge=0, le=100_000, description="Most tool calls."
    )
    timeout: Seconds = Field(default=1800.0, description="Longest run in seconds.")
    tool_timeout: Seconds = Field(default=120.0, description="Longest tool call in seconds.")
    autonomy: Literal["read-only", "suggest", "auto-edit", "full-auto"] = Field(
        default="auto-edit", description="How much is done without asking."
    )


class OutputSettings(Section):
    """How much of a tool's output a model reads."""

    max_bytes: int = Field(
        default=32_768,
        ge=1024,
        le=1_048_576,
        description="Bytes of one tool result; cuts are counted.",
    )


class RedactRule(Section):
    """One more rule of redaction."""

    name: str = Field(
        pattern=r"^[a-z][a-z0-9_-]{0,62}$", description="Shown in place of what was removed."
    )
    anchor: str = Field(
        min_length=2,
        max_length=64,
        description="Text that every match begins with; clean text costs one search for it.",
    )
    pattern: str = Field(
        min_length=1, description="Regular expression of what is removed, tried at each anchor."
    )

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"is not a regular expression: {error}") from None
        return pattern


class RedactSettings(Section):
    """What is removed from outputs beside the built-in rules."""

    values: Secrets = Field(
        default=(),
        description="Secrets to remove wherever they appear: `env:NAME`, `file:PATH` or text.",
    )
    rules: Annotated[tuple[RedactRule, ...], Field(strict=False)] = Field(
        default=(), description="Tables of `name`, `anchor` and `pattern`."
    )


class SandboxSettings(Section):
    """What holds the processes that tools start."""

    level: Literal["auto", "bwrap", "landlock", "none"] = Field(
        default="auto",
        description="Back end; `auto` takes the strongest that works here and never `none`.",
    )
    account: str | None = Field(
        default=None,
        min_length=1,
        description="Account of commands when we are root; not set: the folder's owner, `nobody`.",
    )
    network: Literal["none", "proxy", "host"] = Field(
        default="none", description="Network inside; `proxy` reaches only `allow_hosts`."
    )
    allow_hosts: Strings = Field(
        default=(), description="What the proxy lets through, each as `host:port`."
    )
    read_paths: Strings = Field(
        default=(), description="Further absolute paths that commands may read."
    )
    memory: int | None = Field(
        default=2_147_483_648, ge=16_777_216, description="Bytes of memory of one run."
    )
    processes: int | None = Field(
        default=512, ge=4, le=100_000, description="Most processes of one run."
    )
    cpu: float | None = Field(
        default=2.0, ge=0.05, le=1024, description="Processors that one run may keep busy."
    )


class WorkspaceSettings(Section):
    """The folder that tools may work in, and the limits of what runs there."""

    path: str | None = Field(
        default=None, min_length=1, description="The folder; not set: no such tools."
    )
    command_timeout: Seconds = Field(
        default=300.0, description="Seconds that a command gets where a call does not say."
    )
    background: int = Field(
        default=4, ge=0, le=64, description="Most commands in the background at once."
    )
    kept_runs: int = Field(
        default=100, ge=1, le=10_000, description="Newest script runs that are kept."
    )


class CredentialSettings(Section):
    """A secret that programs outside of the sandbox work with, by the name of its variable."""

    value: SecretStr = Field(description="The secret: `env:NAME`, `file:PATH` or the text itself.")
    tools: Strings = Field(
        default=(), description="Programs of `programs` that get it; empty: each of them."
    )
    proxy_only: bool = Field(
        default=True,
        description="Whether programs alone get it; false: commands may ask for the value, too.",
    )


class ProgramSettings(Section):
    """A program that runs outside of the sandbox when a command asks for it by its name."""

    argv: Annotated[Strings, Field(min_length=1)] = Field(
        description="The program, an absolute path or a name on PATH, and its first words."
    )
    allow: Strings = Field(
        default=(),
        description="Words that may follow, such as `pr list`, or `pr *` for any behind the `*`.",
    )
    timeout: Annotated[float, Field(gt=0, le=MAX_PROGRAM_SECONDS)] = Field(
        default=60.0, description="Seconds after which it is ended."
    )
    description: str = Field(
        default="", max_length=500, description="What it is for; the model reads it."
    )

    @field_validator("argv", "allow")
    @classmethod
    def _plain(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        if any(not word.strip() or "\0" in word for word in words):
            raise ValueError("must hold no empty text")
        return words

    @field_validator("allow")
    @classmethod
    def _star_last(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        if any("*" in entry.split()[:-1] for entry in entries):
            raise ValueError("must have `*` as the last word of an entry alone")
        return entries


class Settings(Section):
    """The whole tree."""

    model: ModelSettings = Field(default=ModelSettings(), description="The model that answers.")
    providers: dict[Name, ProviderSettings] = Field(
        default={}, description="Where models are served."
    )
    clusters: dict[Name, ClusterSettings] = Field(
        default={}, description="Clusters that tools may reach."
    )
    hosts: dict[Name, HostSettings] = Field(
        default={}, description="Machines that tools may reach over SSH."
    )
    kubectl: KubectlSettings = Field(default=KubectlSettings(), description="The kubectl program.")
    sandbox: SandboxSettings = Field(
        default=SandboxSettings(), description="What holds the processes that tools start."
    )
    workspace: WorkspaceSettings = Field(
        default=WorkspaceSettings(), description="The folder that tools may work in."
    )
    credentials: dict[Variable, CredentialSettings] = Field(
        default={}, description="Secrets of programs outside of the sandbox."
    )
    programs: dict[Name, ProgramSettings] = Field(
        default={}, description="Programs outside of the sandbox that commands may ask for."
    )
    run: RunSettings = Field(default=RunSettings(), description="Limits of one run.")
    output: OutputSettings = Field(default=OutputSettings(), description="Size of tool results.")
    redact: RedactSettings = Field(default=RedactSettings(), description="Further redaction.")
