"""From the settings to what the credential proxy works with: the split, and each program's words.

Everything that must not reach a program is refused here, by name and by value, before anything is
opened: our own settings, the keys of models, and what steers programs instead of being a secret.
"""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from truepenny.config.redaction import credential_values
from truepenny.config.settings import CredentialSettings, Settings
from truepenny.errors import ConfigurationError
from truepenny.model.provider import presets, providers
from truepenny.sandbox.credential.names import LOCALE, is_ours, steers_a_shell
from truepenny.sandbox.credential.service import ASKING
from truepenny.sandbox.credential.split import MODEL_KEYS, CredentialSpec, Split, split
from truepenny.workspace.script_run.request import INTERPRETERS

COMMANDS = "(commands)"
"""Stands for what runs inside where a value may be asked for; no program can have this name."""

STEERING = LOCALE | {"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "TERM", "IFS"}

STEERING_PREFIXES = ("LD_", "PYTHON", "GIT_CONFIG")
"""What makes a program load code: a program of ours would run it with all rights of ours."""

TAKEN = frozenset((*INTERPRETERS, "env", ASKING))
"""Names that a stand-in must not have: it would be started in place of what runs everything."""

_BASH = (
    "alias bg bind break builtin caller case cd command compgen complete compopt continue coproc"
    " declare dirs disown do done echo elif else enable esac eval exec exit export false fc fg fi"
    " for function getopts hash help history if in jobs kill let local logout mapfile popd printf"
    " pushd pwd read readarray readonly return select set shift shopt source suspend test then"
    " time times trap true type typeset ulimit umask unalias unset until wait while"
)

BUILT_IN = frozenset(_BASH.split())
"""What bash means by itself (`compgen -bk`): a program of such a name would never be asked for."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What the settings come to. `absent` names, for each program, its credentials that are not
    set: without them it might work under another identity, so it is not run."""

    split: Split
    programs: Mapping[str, tuple[str, ...]]
    absent: Mapping[str, tuple[str, ...]]


def bind(
    settings: Settings,
    env: Mapping[str, str],
    clean: Mapping[str, str],
    own: Mapping[str, str],
    root: Path,
) -> Binding:
    """Return the binding. `env` is our own environment, `clean` that of commands, `own` what
    programs have in place of it (home, temporary folder), `root` the workspace.

    Raises ConfigurationError for a setting that would hand out what must stay, or that has no use.
    """
    for name, program in settings.programs.items():
        _check_program(name, program.argv, clean, root)
    _check_home(Path(own["HOME"]), settings, root)
    keys, key_names = _model_keys(settings, env)
    for name, one in settings.credentials.items():
        _check_name(name, one, key_names)
        _check_tools(name, one, settings)
    values = credential_values(settings, env)
    for name, value in values.items():
        if value in keys:
            raise _never(f"credentials.{name}.value", f"it is the key of a model ({keys[value]})")
    specs = [_spec(name, one, settings) for name, one in settings.credentials.items()]
    made = split(
        {**clean, **values},
        specs,
        host=env,
        selected={*settings.programs, COMMANDS},
        model_keys=key_names,
    )
    # A home or options that suit what runs inside are a trap outside: /tmp is everybody's there.
    base = {k: v for k, v in made.base.items() if not steers_a_shell(k)} | dict(own)
    absent = {
        tool: tuple(spec.name for spec in specs if tool in spec.tools and spec.name not in values)
        for tool in settings.programs
    }
    return Binding(
        replace(made, base=MappingProxyType(base)),
        {name: program.argv for name, program in settings.programs.items()},
        {tool: names for tool, names in absent.items() if names},
    )


def _spec(name: str, one: CredentialSettings, settings: Settings) -> CredentialSpec:
    tools = frozenset(one.tools or settings.programs)
    if not one.proxy_only:
        return CredentialSpec(name, tools | {COMMANDS})
    return CredentialSpec(name, tools, proxy_only=not one.tools, handed=False)


def _model_keys(settings: Settings, env: Mapping[str, str]) -> tuple[dict[str, str], set[str]]:
    """Return the values of model keys with whose they are, and the variables that hold one."""
    names = {*MODEL_KEYS, *(preset.key_env for preset in presets().values() if preset.key_env)}
    for provider in settings.providers.values():
        for secret in (provider.api_key, *provider.headers.values()):
            text = "" if secret is None else secret.get_secret_value()
            if text.startswith("env:"):
                names.add(text.removeprefix("env:"))
    values = {env[name]: name for name in names if env.get(name)}
    for provider in providers(settings, env).values():
        for value in (provider.api_key, *provider.headers.values()):
            if value:
                values[value] = provider.name
    return values, names


def _check_name(name: str, one: CredentialSettings, key_names: set[str]) -> None:
    where = f"credentials.{name}"
    kind, _, source = one.value.get_secret_value().partition(":")
    for word, place in ((name, where), (source if kind == "env" else "", f"{where}.value")):
        if is_ours(word):
            raise _never(place, f"{word} is a setting of ours")
        if word in key_names:
            raise _never(place, f"{word} is the key of a model")
    if name in STEERING or steers_a_shell(name) or name.startswith(STEERING_PREFIXES):
        raise ConfigurationError(
            f"{name} steers programs and is no secret",
            where=where,
            remedy="Set it in a small script, and name that in programs.",
        )


def _never(where: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"{why}, which never reaches a program",
        where=where,
        remedy="Give the program a secret of its own.",
    )


def _check_tools(name: str, one: CredentialSettings, settings: Settings) -> None:
    where = f"credentials.{name}.tools"
    for tool in one.tools:
        if tool not in settings.programs:
            near = difflib.get_close_matches(tool, settings.programs, n=1)
            raise ConfigurationError(
                f"there is no program {tool!r}",
                where=where,
                remedy=f"Did you mean {near[0]}?" if near else f"Add [programs.{tool}].",
            )
    if one.proxy_only and not settings.programs:
        raise ConfigurationError(
            "no program would get it",
            where=where,
            remedy="Add the program that works with it as a table of programs.",
        )


def _check_program(name: str, argv: tuple[str, ...], clean: Mapping[str, str], root: Path) -> None:
    where = f"programs.{name}"
    if name in TAKEN:
        raise ConfigurationError(
            f"{name} is what commands are run by, and cannot be replaced",
            where=where,
            remedy="Choose another name for it.",
        )
    if name in BUILT_IN:
        raise ConfigurationError(
            f"{name} is built into bash, which would never ask for the program",
            where=where,
            remedy="Choose another name for it.",
        )
    if "/" in argv[0] and not argv[0].startswith("/"):
        raise ConfigurationError(
            f"{argv[0]!r} is neither an absolute path nor a name on PATH",
            where=f"{where}.argv",
            remedy="Write the whole path.",
        )
    for path in _paths(argv, clean):
        if path.is_relative_to(root):
            raise ConfigurationError(
                f"{path} lies in the workspace, where commands can change it",
                where=f"{where}.argv",
                remedy="Move it out of there.",
            )


def _check_home(home: Path, settings: Settings, root: Path) -> None:
    if settings.programs and Path(os.path.realpath(home)).is_relative_to(root):
        raise ConfigurationError(
            f"your home {home} lies in the workspace: what commands leave there would be settings"
            " of the programs",
            where="programs",
            remedy="Work in a folder of its own.",
        )


def _paths(argv: tuple[str, ...], clean: Mapping[str, str]) -> Iterator[Path]:
    """Yield the program and every word that is a path, as they are written and as they lead."""
    found = find_program(argv[0], clean)
    for word in (*argv, *(() if found is None else (str(found),))):
        if word.startswith("/"):
            yield Path(os.path.normpath(word))
            yield Path(os.path.realpath(word))


def find_program(name: str, clean: Mapping[str, str]) -> Path | None:
    """Return the file that a program's first word means, None where none can be started."""
    found = shutil.which(name, path=clean.get("PATH", os.defpath))
    return None if found is None else Path(found)
