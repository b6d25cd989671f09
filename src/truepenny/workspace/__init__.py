"""Tools that work in one folder: commands, scripts, checks and files, held by a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truepenny.tool.contract import Tool

    from .server.on_demand import ServerOnDemand
    from .workspace import Workspace


def tools(workspace: Workspace, server: ServerOnDemand | None = None) -> tuple[Tool, ...]:
    """Return every tool of this package over one folder, in the order models see them.

    The file tools run in `server`; without one they describe themselves and reach nothing.
    """
    from truepenny.sandbox.roots import FileRoots

    from .bash import bash_tool
    from .file.access import file_access
    from .file.edit import edit_tool
    from .file.find import find_tool
    from .file.grep import grep_tool
    from .file.read import read_tool
    from .file.write import write_tool
    from .job_stop import job_stop_tool
    from .passage import with_passages
    from .rights import with_rights
    from .run_script import run_script_tool
    from .server.on_demand import served
    from .task_output import task_output_tool
    from .verify.tool import verify_tool

    nothing = file_access(workspace.root, FileRoots((), (), (), ()))
    makers = (
        (read_tool, True),
        (write_tool, False),
        (edit_tool, False),
        (grep_tool, True),
        (find_tool, False),
    )
    made = ((make(nothing), make if reads_outputs else None) for make, reads_outputs in makers)
    processes = (bash_tool(workspace), run_script_tool(workspace), verify_tool(workspace))
    processes = tuple(with_rights(tool, workspace) for tool in processes)
    if way := workspace.way:
        processes = tuple(with_passages(tool, way) for tool in processes)
    runs = (task_output_tool(workspace), job_stop_tool(workspace))
    if host := workspace.outside:
        from .credential.host_side import with_telling, with_uses

        processes = tuple(with_uses(with_telling(tool, host), host) for tool in processes)
        runs = tuple(with_uses(tool, host) for tool in runs)
    files = (served(tool, server, outputs) if server else tool for tool, outputs in made)
    return (
        *(with_rights(tool, workspace) for tool in files),
        *processes,
        *runs,
    )
