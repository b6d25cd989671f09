from __future__ import annotations

from truepenny.agent.limits import RetryPolicy
from truepenny.model.failure import Failure, FailureKind


def test_an_address_that_refuses_is_tried_once_more_and_soon() -> None:
    policy = RetryPolicy()
    refused = Failure(FailureKind.NETWORK, "connection refused", phase="connect")
    assert policy.delay(refused, 0) == policy.connect_delay
    assert policy.delay(refused, 1) is None


def test_a_connection_that_breaks_later_has_the_whole_budget() -> None:
    policy = RetryPolicy()
    broken = Failure(FailureKind.NETWORK, "reset", phase="first_byte")
    delays = [policy.delay(broken, retried) for retried in range(4)]
    assert delays == [5.0, 10.0, 20.0, None]
