"""Failures as the API server says them: a `Status` object that kubectl prints as its error."""

from __future__ import annotations

from truepenny.demo.server.value import Object

REASONS: dict[int, str] = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Expired",
    415: "UnsupportedMediaType",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
"""The machine word for each HTTP status an API server uses."""


class Refusal(Exception):
    """A request ends with this HTTP status and `Status` object.

    `reason` defaults to the word for the code; `details` names the object concerned.
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        reason: str = "",
        details: Object | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason or REASONS.get(code, "")
        self.details = details or {}
        self.headers = headers

    def to_json(self) -> Object:
        """Return the `Status` object."""
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": self.details,
            "code": self.code,
        }


def not_found(resource: str, name: str, group: str = "", plural: str = "") -> Refusal:
    """Build the 404 for a named object; `resource` is `plural.group`."""
    details = {"name": name, "kind": plural or resource}
    if group:
        details["group"] = group
    return Refusal(404, f'{resource} "{name}" not found', details=details)


def no_such_path() -> Refusal:
    """Build the 404 for a path or kind that is not served."""
    return Refusal(404, "the server could not find the requested resource")
