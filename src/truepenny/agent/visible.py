"""What of a model's stream is shown while it comes: redacted, in order."""

from __future__ import annotations

from truepenny.text.redact import Redactor

from .event import TextDelta, ThinkingDelta
from .outbox import Outbox

_Kind = type[TextDelta] | type[ThinkingDelta]


class Visible:
    """Passes deltas on as events. The redactor holds back the end of a text until it knows more."""

    def __init__(self, turn: str, outbox: Outbox, redactor: Redactor) -> None:
        self._turn, self._outbox, self._redactor = turn, outbox, redactor
        self._kind: _Kind = TextDelta
        self._stream = redactor.stream()
        self._fed = False
        self.shown = False
        """Whether anything at all left; a request of which nothing was shown may be sent again."""
        self._texts: list[str] = []

    @property
    def text(self) -> str:
        """The answer's text as far as it was shown, without thinking."""
        return "".join(self._texts)

    async def feed(self, kind: _Kind, text: str) -> None:
        """Take more text of one kind; a change of kind first lets out what was held back."""
        if kind is not self._kind:
            await self.finish()
            self._kind = kind
        self._fed = True
        await self._show(self._stream.feed(text))

    async def finish(self) -> None:
        """Let out what was held back."""
        if self._fed:
            await self._show(self._stream.finish())
            self._stream, self._fed = self._redactor.stream(), False

    async def _show(self, text: str) -> None:
        if text:
            self.shown = True
            if self._kind is TextDelta:
                self._texts.append(text)
            await self._outbox.send(self._kind(self._turn, text))
