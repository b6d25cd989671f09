"""A part of a document, taken out while kubectl still writes it: masked item by item, then picked.

No more is held than the largest item, so the answer may be far larger than a document that is
shown as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping

from truepenny.execute.process import Stream
from truepenny.text.bound import Bounded, HeadTail, Limits
from truepenny.text.redact import Redactor

from .sanitize.json_document import JsonStream
from .sanitize.json_path import BadPath, parse_path


class Projection:
    """What a path leads to, one result a line, in at most `max_bytes`. Raises BadPath at once for
    what is no path.

    `feed` takes what kubectl writes, `finish` ends it. Then `problem` says where the path led
    nowhere, and `lost` why a part of the document was not looked at.
    """

    def __init__(self, path: str, redactor: Redactor, max_bytes: int) -> None:
        self.path = path
        self.problem = ""
        self._stream = JsonStream(redactor, parse_path(path))
        self._kept = HeadTail(Limits(bytes=max_bytes))

    @property
    def counts(self) -> Mapping[str, int]:
        """What was masked, by rule, in all that was looked at."""
        return self._stream.counts

    @property
    def lost(self) -> str:
        """Why a part was not looked at; empty where all was."""
        return self._stream.lost

    @property
    def unread(self) -> bool:
        """Whether something else came in the place of a document; it was masked line by line."""
        return self._stream.unread

    def feed(self, stream: Stream, text: str) -> None:
        """Take a piece. Behind a path that led nowhere all the rest is passed over."""
        if stream == "stdout" and not self.problem:
            try:
                self._kept.feed(self._stream.feed(text))
            except BadPath as error:
                self.problem = error.message

    def finish(self) -> Bounded:
        """End it and return what is shown."""
        if not self.problem:
            try:
                self._kept.feed(self._stream.finish())
            except BadPath as error:
                self.problem = error.message
        return self._kept.finish()
