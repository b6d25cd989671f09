"""Whether a program behind a sandbox's own words ever began, once its end was seen."""

from __future__ import annotations

from dataclasses import replace

from truepenny.sandbox.confinement import Confinement, Refused

from .command import Command
from .ending import Cause, ExitFact
from .execution import Execution, StartFailure, StartFault

_FAULTS = {
    Refused.SANDBOX: StartFault.SANDBOX,
    Refused.DIRECTORY: StartFault.MISSING_DIRECTORY,
    Refused.MISSING: StartFault.MISSING_PROGRAM,
    Refused.NOT_EXECUTABLE: StartFault.NOT_EXECUTABLE,
}


def failed_inside(command: Command, confinement: Confinement, execution: Execution) -> Execution:
    """Return the execution with its containment, as a failed start where it was one.

    A code of the sandbox's own words is not the program's: none is kept then. One that was stopped
    before it began stays a run that was stopped.
    """
    execution = replace(execution, containment=confinement.containment)
    verdict = confinement.verdict(execution.exit.observed, execution.stderr.text)
    if verdict is None:
        return execution
    if execution.cause in (Cause.TIMEOUT, Cause.ABORT):
        # Ended by us amidst its start: no fault of the sandbox, and no code of the program.
        return replace(execution, exit=ExitFact())
    fault = _FAULTS[verdict.why]
    directory = fault is StartFault.MISSING_DIRECTORY
    subject = str(command.cwd) if directory else command.argv[0]
    failure = StartFailure(fault, subject, verdict.message)
    return replace(execution, failure=failure, exit=ExitFact(), cause=None)
