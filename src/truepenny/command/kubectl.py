"""The grammar of kubectl for reading: which arguments may run, and what they will ask.

What runs is written anew from the parts that were understood, never passed through, so kubectl
cannot read a token differently from the way it was judged (spec/field.md B3, B4). Only read verbs
pass; everything unknown is refused; every refusal that has a readable neighbour names it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .kubectl_flag import EXPLAIN_OUTPUTS, LIVE_FLAGS, OUTPUTS, SECRET_OUTPUTS
from .kubectl_parse import Fault, Parsed, parse

DEFAULT_TAIL = 200
"""Log lines per container when nothing bounds them; kubectl itself takes all, or 10 by selector."""

MAX_TOKENS = 256
"""More than any command a person writes; keeps reading cheap."""

MAX_TOKEN_CHARS = 4096

SUBRESOURCES = ("resize", "scale", "status")
"""What `get` may ask for below an object; `proxy`, `exec` reach beyond the API server."""

_NEEDS_WORDS = ("describe", "get", "logs", "rollout history", "rollout status")
_WORDLESS = ("api-resources", "api-versions", "auth whoami", "cluster-info", "version")
_LOG_BOUNDS = ("tail", "since", "since-time", "limit-bytes")
_UNUSABLE = frozenset(
    (
        "bad_flag_value",
        "bad_name",
        "control_character",
        "flag_needs_value",
        "missing_resource",
        "no_verb",
        "too_long",
        "unexpected_argument",
    )
)
_POD_VERBS = ("attach", "cp", "debug", "exec", "port-forward")
_METADATA_SORT = re.compile(r"\{?\.?metadata\.[A-Za-z.]+\}?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class KubectlCommand:
    """A command that may run.

    `arguments` is what follows the word kubectl, rewritten. `resources` are the types in lower
    case as they were written, without names. `namespace` None means the context's own.
    `defaults` are the flags in `arguments` that nobody asked for.
    """

    verb: str
    arguments: tuple[str, ...]
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    namespace: str | None = None
    all_namespaces: bool = False
    output: str | None = None
    selector: str | None = None
    tail: int | None = None
    defaults: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The command as a person could paste it."""
        return shlex.join(("kubectl", *self.arguments))


@dataclass(frozen=True, slots=True)
class Refusal:
    """A command that may not run. `rejected_by` is a machine word, `matched` the token.

    `alternative` is an argument list that this grammar accepts, and `hint` the same as a line;
    both are empty when nothing close to the request can be read.
    """

    rejected_by: str
    matched: str
    message: str
    alternative: tuple[str, ...] = ()

    @property
    def unusable(self) -> bool:
        """Whether the arguments make no command, rather than one that a rule forbids."""
        return self.rejected_by in _UNUSABLE

    @property
    def hint(self) -> str:
        """The alternative as a person could paste it."""
        return shlex.join(("kubectl", *self.alternative)) if self.alternative else ""


_SHELL_WORD = re.compile(r"\|\|?&?|&&?|;|\d?>{1,2}(?:&\d)?|<{1,3}|\d?>>?\S+")
_SHELL_PART = re.compile(r"[|&;<>`$(){}\\\"'\s]")
_NO_SHELL = "there is no shell here: no pipes, redirections, quotes or variables"
"""Such a word would go to kubectl as a name, and its answer would be about that name."""


def read(argv: Sequence[str]) -> KubectlCommand | Refusal:
    """Judge arguments with or without the word `kubectl` in front. Pure."""
    tokens = list(argv[1:] if argv and argv[0] == "kubectl" else argv)
    fault = _unusable(tokens)
    if fault is not None:
        return Refusal(fault.reason, fault.matched, fault.message)
    shell = next((at for at, token in enumerate(tokens) if _SHELL_WORD.fullmatch(token)), None)
    if shell is not None:
        before = read(tokens[:shell])
        alone = before.arguments if isinstance(before, KubectlCommand) else before.alternative
        return Refusal("shell_syntax", tokens[shell], _NO_SHELL, tuple(alone))
    parsed = parse(tokens)
    judged = _judge(parsed)
    if isinstance(judged, KubectlCommand):
        return judged
    for candidate in _neighbours(tokens, parsed):
        if isinstance(_judge(parse(candidate)), KubectlCommand):
            return Refusal(judged.reason, judged.matched, judged.message, tuple(candidate))
    return Refusal(judged.reason, judged.matched, judged.message)


def _unusable(tokens: Sequence[str]) -> Fault | None:
    if len(tokens) > MAX_TOKENS:
        return Fault("too_long", "", f"more than {MAX_TOKENS} arguments")
    for token in tokens:
        if len(token) > MAX_TOKEN_CHARS:
            return Fault(
                "too_long", token[:40], f"an argument has over {MAX_TOKEN_CHARS} characters"
            )
        if _CONTROL.search(token):
            return Fault(
                "control_character", repr(token[:40]), "an argument has a control character"
            )
    return None


def _judge(parsed: Parsed) -> KubectlCommand | Fault:
    """Return the command or the first fault, and leave in `parsed` what is worth keeping."""
    parsed.faults.extend(_faults(parsed))
    if parsed.faults:
        return parsed.faults[0]
    resources, names = _objects(parsed)
    defaults = _defaults(parsed)
    settings = [token for setting in parsed.settings for token in setting.render()]
    tail = parsed.last("tail") or next((d[len("--tail=") :] for d in defaults if "tail" in d), "")
    return KubectlCommand(
        verb=parsed.verb,
        arguments=(*parsed.verb.split(), *parsed.words, *settings, *defaults),
        resources=resources,
        names=names,
        namespace=parsed.last("namespace") or None,
        all_namespaces=parsed.last("all-namespaces") == "true",
        output=parsed.last("output"),
        selector=parsed.last("selector"),
        tail=int(tail) if tail.isdecimal() else None,
        defaults=defaults,
    )


def _faults(parsed: Parsed) -> Iterator[Fault]:
    """Yield what the parts come to together; a setting that caused a fault is dropped."""
    if not parsed.verb:
        return
    if parsed.verb in _WORDLESS and parsed.words:
        yield Fault(
            "unexpected_argument",
            parsed.words[0],
            f"kubectl {parsed.verb} takes no argument here",
        )
        parsed.words.clear()
    if parsed.verb in _NEEDS_WORDS and not parsed.words and not _selects_pods(parsed):
        yield Fault("missing_resource", "", f"kubectl {parsed.verb} needs a type or a name")
    shell = next((word for word in parsed.words if _SHELL_PART.search(word)), None)
    if shell is not None:
        yield Fault("shell_syntax", shell, _NO_SHELL)
        parsed.words.remove(shell)
    strange = next((word for word in parsed.words if not word.isascii()), None)
    if strange is not None:
        yield Fault("bad_name", strange, "names and types are ASCII")
    part = parsed.last("subresource")
    if parsed.verb == "get" and part is not None and part not in SUBRESOURCES:
        yield Fault("subresource", part, f"the subresource is one of: {', '.join(SUBRESOURCES)}")
        parsed.drop("subresource")
    yield from _output_faults(parsed)
    yield from _secret_faults(parsed)
    for name in LIVE_FLAGS:
        if parsed.on(name) and not (parsed.verb == "rollout status" and parsed.last("timeout")):
            yield Fault("unbounded", f"--{name}", f"--{name} does not end by itself")
            parsed.drop(name)


def _selects_pods(parsed: Parsed) -> bool:
    return parsed.verb == "logs" and parsed.last("selector") is not None


def _output_faults(parsed: Parsed) -> Iterator[Fault]:
    values = [s.value for s in parsed.settings if s.flag.name == "output"]
    allowed = EXPLAIN_OUTPUTS if parsed.verb == "explain" else OUTPUTS
    wrong = next((value for value in values if value not in allowed), None)
    if wrong is not None:
        yield Fault("output_format", wrong, f"the output format is one of: {', '.join(allowed)}")
    if len(values) > 1:
        yield Fault("repeated_output", values[-1], "the output format is named more than once")
    if wrong is not None or len(values) > 1:
        flag = next(s for s in parsed.settings if s.flag.name == "output")
        parsed.drop("output")
        if parsed.verb in ("get", "events", "version"):
            parsed.settings.append(type(flag)(flag.flag, "json"))


def _secret_faults(parsed: Parsed) -> Iterator[Fault]:
    """`describe` shows only sizes and a table only counts; any other format shows the values."""
    if parsed.verb != "get":
        return
    secret = next((word for word in parsed.words if _names_secret(word)), None)
    if secret is None:
        return
    output = parsed.last("output")
    if output not in SECRET_OUTPUTS:
        yield Fault(
            "secret_values", secret, f"the values of Secrets are not read; -o {output} shows them"
        )
        parsed.drop("output")
    order = parsed.last("sort-by")
    if order is not None and not _METADATA_SORT.fullmatch(order):
        yield Fault("secret_values", order, "sorting Secrets by their values tells about them")
        parsed.drop("sort-by")


def _names_secret(word: str) -> bool:
    """Whether a word means Secrets in any spelling: `pods,Secrets`, `secrets.v1.`, `secret/x`."""
    kinds = (part.strip().lower().split("/")[0].split(".")[0] for part in word.split(","))
    return any(kind in ("secret", "secrets") for kind in kinds)


def _objects(parsed: Parsed) -> tuple[tuple[str, ...], tuple[str, ...]]:
    words = parsed.words
    if parsed.verb == "logs":
        kind, slash, name = words[0].partition("/") if words else ("", "", "")
        return ((kind.lower(),), (name,)) if slash else (("pod",), tuple(words[:1]))
    if parsed.verb in ("top pod", "top node"):
        return (parsed.verb.split()[1],), tuple(words)
    if parsed.verb not in ("get", "describe", "rollout history", "rollout status") or not words:
        return (), ()
    if any("/" in word for word in words):
        pairs = [word.partition("/") for word in words]
        return tuple(dict.fromkeys(p[0].lower() for p in pairs)), tuple(p[2] for p in pairs)
    return tuple(words[0].lower().split(",")), tuple(words[1:])


def _defaults(parsed: Parsed) -> tuple[str, ...]:
    if parsed.verb == "logs":
        # By selector kubectl silently takes 10 lines a container, also when --since is given.
        many = parsed.last("selector") is not None or parsed.on("all-pods")
        bounds = _LOG_BOUNDS[:1] if many else _LOG_BOUNDS
        if all(parsed.last(name) is None for name in bounds):
            return (f"--tail={DEFAULT_TAIL}",)
    if (
        parsed.verb == "rollout status"
        and parsed.last("watch") is None
        and parsed.last("timeout") is None
    ):
        return ("--watch=false",)
    return ()


def _neighbours(tokens: Sequence[str], parsed: Parsed) -> Iterator[list[str]]:
    """Yield argument lists close to a refused one, the closest first; not yet judged."""
    settings = [token for setting in parsed.settings for token in setting.render()]
    if parsed.verb:
        yield [*parsed.verb.split(), *parsed.words, *settings]
        yield [*parsed.verb.split(), *parsed.words]
    if len(tokens) == 1 and " " in tokens[0]:
        try:
            yield shlex.split(tokens[0].removeprefix("kubectl "))
        except ValueError:
            pass  # unbalanced quotes: nothing to offer
    namespace = parsed.last("namespace")
    scope = ["-n", namespace] if namespace else []
    if parsed.unknown_verb in _POD_VERBS and parsed.words:
        yield ["describe", "pod", parsed.words[0].removeprefix("pod/"), *scope]
    elif parsed.unknown_verb.startswith("rollout ") and parsed.words:
        yield ["rollout", "history", *parsed.words, *scope]
    elif parsed.unknown_verb == "config":
        yield ["auth", "whoami"]
    elif parsed.unknown_verb and parsed.words:
        yield ["get", *parsed.words[: 1 if "/" in parsed.words[0] else 2], *scope]
    yield ["api-resources"]
