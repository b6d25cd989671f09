"""From kubectl arguments to their parts, by the rules of kubectl's own flag reader (pflag).

Every token gets one meaning or is recorded as a fault; nothing is skipped. Flags may stand before
and after the words, `--` ends them, short switches may be joined (`-Ao json`), and a value may be
attached (`-ojson`, `-o=json`, `--output=json`) or be the next token, whatever it looks like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .kubectl_flag import FAMILIES, GLOBAL, VERBS, WHY, Flag

_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))
"""The spellings of Go's strconv.ParseBool."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One token that cannot be used: a machine word, the token and a sentence."""

    reason: str
    matched: str
    message: str


@dataclass(frozen=True, slots=True)
class Setting:
    """One flag that is allowed, with its value; a switch has the value `true` or `false`."""

    flag: Flag
    value: str

    @property
    def on(self) -> bool:
        """Whether this is a switch that is set."""
        return self.flag.switch and self.value == "true"

    def render(self) -> tuple[str, ...]:
        """Return the tokens for it; no value can be read as a flag of its own."""
        flag, value = self.flag, self.value
        if flag.switch:
            bare = f"-{flag.short}" if flag.short else f"--{flag.name}"
            return (bare,) if value == "true" else (f"--{flag.name}=false",)
        if flag.short and value and not value.startswith("-"):
            return (f"-{flag.short}", value)
        return (f"--{flag.name}={value}",)


@dataclass(slots=True)
class Parsed:
    """The parts of a command. `verb` is a key of `VERBS`, or empty when a fault says why."""

    verb: str = ""
    unknown_verb: str = ""
    words: list[str] = field(default_factory=list[str])
    settings: list[Setting] = field(default_factory=list[Setting])
    faults: list[Fault] = field(default_factory=list[Fault])

    def last(self, name: str) -> str | None:
        """Return the value that counts: kubectl takes the last one."""
        return next((s.value for s in reversed(self.settings) if s.flag.name == name), None)

    def on(self, name: str) -> bool:
        """Whether a switch is set in any of its appearances."""
        return any(s.on for s in self.settings if s.flag.name == name)

    def drop(self, *names: str) -> None:
        """Forget the flags of these names."""
        self.settings = [s for s in self.settings if s.flag.name not in names]


def parse(argv: Sequence[str]) -> Parsed:
    """Read the arguments that would follow the word `kubectl`."""
    return _Parser(argv).parse()


class _Parser:
    def __init__(self, argv: Sequence[str]) -> None:
        self._rest = list(reversed(argv))
        self._parsed = Parsed()
        self._family = ""
        self._flags_ended = False
        self._use(GLOBAL)

    def _use(self, flags: Sequence[Flag]) -> None:
        self._long = {flag.name: flag for flag in flags}
        self._short = {flag.short: flag for flag in flags if flag.short}

    def parse(self) -> Parsed:
        parsed = self._parsed
        while self._rest:
            token = self._rest.pop()
            if self._flags_ended or not token.startswith("-"):
                self._word(token)
            elif token == "--":
                self._flags_ended = True
            elif token.startswith("--"):
                self._long_flag(token)
            else:
                self._short_flags(token)
        if not parsed.verb and not parsed.unknown_verb:
            missing = f"{self._family} needs one of: " if self._family else "no verb; use one of: "
            choices = FAMILIES[self._family] if self._family else VERBS
            self._fault("no_verb", self._family, missing + ", ".join(sorted(set(choices))))
        return parsed

    def _fault(self, reason: str, matched: str, message: str) -> None:
        self._parsed.faults.append(Fault(reason, matched, message))

    def _word(self, token: str) -> None:
        parsed = self._parsed
        if parsed.verb or parsed.unknown_verb:
            if token.startswith("-"):
                self._fault("bad_name", token, "no object's name starts with a dash")
            elif not token:
                self._fault("bad_name", token, "a name is empty")
            else:
                parsed.words.append(token)
        elif self._family:
            member = FAMILIES[self._family].get(token, "")
            self._verb(f"{self._family} {member or token}", known=bool(member))
        elif token in FAMILIES:
            self._family = token
        else:
            self._verb(token, known=token in VERBS)

    def _verb(self, verb: str, *, known: bool) -> None:
        if known:
            self._parsed.verb = verb
            self._use((*GLOBAL, *VERBS[verb]))
            return
        self._parsed.unknown_verb = verb
        self._fault(
            "verb_not_allowed", verb, f"{verb!r} is not one of the read verbs: {', '.join(VERBS)}"
        )

    def _long_flag(self, token: str) -> None:
        name, attached, value = token[2:].partition("=")
        flag = self._long.get(name)
        if flag is None:
            self._unknown(f"--{name}")
        elif flag.switch:
            self._switch(flag, token, value if attached else "true")
        else:
            self._value(flag, token, value if attached else None)

    def _short_flags(self, token: str) -> None:
        if token == "-":
            self._fault("bad_name", token, "reading from standard input is not allowed")
            return
        letters = token[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            flag = self._short.get(letter)
            if flag is None:
                self._unknown(f"-{letter}")
                return
            if letters.startswith("="):
                setter = self._switch if flag.switch else self._value
                setter(flag, token, letters[1:])
                return
            if not flag.switch:
                self._value(flag, token, letters or None)
                return
            self._switch(flag, token, "true")

    def _unknown(self, spelling: str) -> None:
        place = f"of kubectl {self._parsed.verb}" if self._parsed.verb else "before the verb"
        self._fault("unknown_flag", spelling, f"{spelling} is not a known flag {place}")

    def _value(self, flag: Flag, token: str, value: str | None) -> None:
        if value is None:
            if not self._rest:
                self._fault("flag_needs_value", token, f"--{flag.name} needs a value")
                return
            value = self._rest.pop()
        self._keep(flag, token, value)

    def _switch(self, flag: Flag, token: str, value: str) -> None:
        if value not in _TRUE | _FALSE:
            self._fault("bad_flag_value", token, f"--{flag.name} is true or false")
            return
        self._keep(flag, token, "true" if value in _TRUE else "false")

    def _keep(self, flag: Flag, token: str, value: str) -> None:
        if flag.refusal is not None:
            # The value is left out: it may be a credential.
            matched = token.partition("=")[0] if token.startswith("--") else f"-{flag.short}"
            spelling = f"-{flag.short}" if flag.name == flag.short else f"--{flag.name}"
            self._fault(
                flag.refusal.value, matched, f"{spelling} is not allowed: {WHY[flag.refusal]}"
            )
            return
        self._parsed.settings.append(Setting(flag, value))
