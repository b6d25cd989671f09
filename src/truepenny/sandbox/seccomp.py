"""The table of refused system calls as a filter program for the kernel.

A classic BPF program: an array of `struct sock_filter` in the machine's byte order, as
`bwrap --seccomp FD` and seccomp(2) take it. A process of another architecture is killed, since
its numbers mean other calls. Numbers above the newest known one do not exist, which covers the
x32 calls of x86_64 too.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import platform
import struct
from dataclasses import dataclass

from truepenny.errors import CouldNotRun

from .plan import Plan
from .refusal import WORD, Condition, Refusal, refusals
from .syscall import LAST_KNOWN, Machine, call, machine, number

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
REFUSE = 0x00050000
"""SECCOMP_RET_ERRNO: the low half is the error that the call returns."""

LOAD, AND, RETURN = 0x20, 0x54, 0x06
JUMP_IF_EQUAL, JUMP_IF_GREATER = 0x15, 0x25
"""The instructions that are used; `LOAD` takes a word at an offset into the call's data."""

NUMBER_AT, MACHINE_AT, ARGUMENTS_AT, ARGUMENT_BYTES = 0, 4, 16, 8
"""Offsets in `struct seccomp_data`. Both machines are little-endian: the low word comes first."""

INSTRUCTION = struct.Struct("=HBBI")

SET_MODE_FILTER = 1


@dataclass(frozen=True, slots=True)
class _Step:
    """One instruction. `then` and `otherwise` are steps to skip."""

    code: int
    value: int
    then: int = 0
    otherwise: int = 0

    def encode(self) -> bytes:
        return INSTRUCTION.pack(self.code, self.then, self.otherwise, self.value)


def filter_program(plan: Plan, *, namespaces: bool = True) -> bytes:
    """Return the program for a plan on this machine. `namespaces`: see `refusal.refusals`.

    Raises CouldNotRun on an architecture whose calls the table does not have.
    """
    here = machine()
    if here is None:
        raise CouldNotRun(
            f"system calls of {platform.machine()} are not known",
            where="sandbox",
            remedy="Run on x86_64 or aarch64.",
        )
    return compiled(tuple(refusals(plan, namespaces=namespaces)), here)


@functools.lru_cache(maxsize=32)
def compiled(rows: tuple[Refusal, ...], of: Machine) -> bytes:
    """Return the program that refuses `rows` on an architecture."""
    steps = [
        _Step(LOAD, MACHINE_AT),
        _Step(JUMP_IF_EQUAL, of.audit, 1, 0),
        _Step(RETURN, KILL_PROCESS),
        _Step(LOAD, NUMBER_AT),
        _Step(JUMP_IF_GREATER, LAST_KNOWN, 0, 1),
        _Step(RETURN, REFUSE | errno.ENOSYS),
    ]
    # Those without a condition first: they leave the number loaded.
    for row in sorted(rows, key=lambda row: bool(row.when)):
        for name in row.calls:
            found = number(name, of)
            if found is not None:
                steps += _refused(found, row)
    steps.append(_Step(RETURN, ALLOW))
    return b"".join(step.encode() for step in steps)


def install(program: bytes) -> None:
    """Put a program over this thread and all that it starts. Raises OSError.

    It needs `syscall.forbid_new_privileges` before.
    """
    steps = ctypes.create_string_buffer(program, len(program))
    length = len(program) // INSTRUCTION.size
    # struct sock_fprog: a count, padding, and the address.
    head = ctypes.create_string_buffer(struct.pack("@HP", length, ctypes.addressof(steps)))
    call("seccomp", SET_MODE_FILTER, 0, ctypes.addressof(head))


def _refused(found: int, row: Refusal) -> list[_Step]:
    """Return the steps of one call; a call that is not refused falls out at their end."""
    rest = [_Step(RETURN, REFUSE | row.answer)]
    if not row.when:
        return [_Step(JUMP_IF_EQUAL, found, 0, 1), *rest]
    for condition in reversed(row.when):
        rest = [*_tested(condition, len(rest)), *rest]
    # An earlier row may have left an argument loaded.
    return [_Step(LOAD, NUMBER_AT), _Step(JUMP_IF_EQUAL, found, 0, len(rest)), *rest]


def _tested(condition: Condition, behind: int) -> list[_Step]:
    """Return steps that go on to the next one where it holds, and else skip `behind` more."""
    steps = [_Step(LOAD, ARGUMENTS_AT + ARGUMENT_BYTES * condition.argument)]
    if condition.mask != WORD:
        steps.append(_Step(AND, condition.mask))
    for left, value in zip(range(len(condition.values) - 1, -1, -1), condition.values, strict=True):
        if condition.among:
            steps.append(_Step(JUMP_IF_EQUAL, value, left, 0 if left else behind))
        else:
            steps.append(_Step(JUMP_IF_EQUAL, value, left + behind, 0))
    return steps
