#!/usr/bin/env python3
"""Say of one Volcano job its phase, tasks, pods, PodGroup and events."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

# --- The same in each Volcano script, since a script travels alone; a test compares the copies.
# Data is printed behind "| " and escaped, so that no value can pass for a line of the report.
SECONDS = 30  # one read of kubectl; a cluster that needs longer is an answer of its own
BYTES = 64 * 1024 * 1024  # of one answer; more is refused, not cut
ROWS = 200  # of one list
WIDTH = 400  # characters of one value
EXIT = {
    "ok": 0,
    "no_match": 0,
    "query_unsupported": 3,
    "forbidden": 3,
    "not_found": 4,
    "empty_source": 4,
}
FAILED = 5  # source_error of a source that began to answer; 3 where there was none to ask


class Ended(Exception):
    """A read that gave no data: the status it means, the exit code and one sentence."""

    def __init__(self, status, note, code=None):
        super().__init__(note)
        self.status, self.note = status, note
        self.code = EXIT.get(status, FAILED) if code is None else code


def plain(value):
    """A value as one line: JSON unless a string, control characters escaped, bounded."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= WIDTH else f"{text[:WIDTH]} [cut: {len(text)} characters]"


def show(*values):
    print("| " + "  ".join(plain(value) for value in values))


def listed(title, rows):
    """The first rows under a title that counts all of them."""
    print(f"{title}: {len(rows)}" + (f" (first {ROWS} shown)" if len(rows) > ROWS else ""))
    for row in rows[:ROWS]:
        show(*row)


def kubectl(*words):
    """The bytes that kubectl printed, or Ended; what it said on stderr goes to ours."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            ran = subprocess.run(
                ["kubectl", *words, f"--request-timeout={SECONDS - 5}s"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=SECONDS,
            )
        except OSError as error:
            raise Ended(
                "source_error", f"kubectl could not be started: {error.strerror}", 3
            ) from None
        except subprocess.TimeoutExpired:
            raise Ended("source_error", f"kubectl gave no answer in {SECONDS} s", 5) from None
        err.seek(0)
        said = err.read(4096).decode("utf-8", "replace")
        sys.stderr.write(said)
        if ran.returncode:
            raise refused(said, ran.returncode)
        if os.fstat(out.fileno()).st_size > BYTES:
            raise Ended("source_error", f"the answer is larger than {BYTES} bytes", 5)
        out.seek(0)
        return out.read()


def refused(said, code):
    """What a failed kubectl means, by the words of the API server and of kubectl."""
    unreached = ("Unable to connect", "was refused", "no configuration has been provided")
    if "(Forbidden)" in said:
        return Ended("forbidden", "this identity may not read it, so nothing is known of it")
    if any(words in said for words in unreached):
        return Ended("source_error", "the API server was not reached", 3)
    if "couldn't get" in said:
        return Ended("source_error", "the API server did not say all that it serves", 5)
    if "the server doesn't have a resource type" in said or "no matches for kind" in said:
        return Ended("query_unsupported", "the cluster does not serve this kind of object")
    if "(NotFound)" in said:
        return Ended("not_found", "the API server has no object of this name")
    return Ended("source_error", f"kubectl ended with {code}", 5)


def get(*words):
    """One object or list that kubectl read, as a dictionary."""
    raw = kubectl("get", *words, "-o", "json")
    try:
        value = json.loads(raw)
    except ValueError:
        raise Ended("source_error", "kubectl printed no JSON", 5) from None
    if not isinstance(value, dict):
        raise Ended("source_error", "kubectl printed no object", 5)
    return value


def named(kind, name, *words):
    """The one object of this name; anything else that came is a failed read."""
    value = get(kind, name, *words)
    if at(value, "metadata", "name") != name:
        raise Ended("source_error", "kubectl printed another object", 5)
    return value


def items(*words):
    """The objects of a list."""
    value = get(*words).get("items")
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise Ended("source_error", "kubectl printed no list", 5)
    return value


def at(value, *keys):
    """The value under keys, or None where one of them is absent."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def told(value):
    """A value, with "-" for one that the object does not carry."""
    return "-" if value is None or value == "" else value


def events(namespace, kind, name):
    """Rows of the events of one object, the oldest first."""
    found = items(
        "events",
        "-n",
        namespace,
        "--field-selector",
        f"involvedObject.kind={kind},involvedObject.name={name}",
    )
    rows = [
        (
            told(at(one, "lastTimestamp") or at(one, "eventTime")),
            told(at(one, "type")),
            told(at(one, "reason")),
            f"x{told(at(one, 'count'))}",
            told(at(one, "message")),
        )
        for one in found
    ]
    return sorted(rows, key=lambda row: str(row[0]))


class Report:
    """Sections of one report; a section that could not be read decides how it ends."""

    def __init__(self):
        self.worst = None

    def section(self, title, read):
        """What read() gave, or None where it failed, which is said under the title."""
        try:
            return read()
        except Ended as ended:
            if ended.status == "not_found":  # the server answered: an absence is a finding
                print(f"{title}: absent ({ended.note})")
                return None
            print(f"{title}: unknown ({ended.status}: {ended.note})")
            if self.worst is None or ended.code > self.worst.code:
                self.worst = ended
            return None

    def end(self, status="ok"):
        """The final line, and the exit code that agrees with it."""
        status, code = (
            (self.worst.status, self.worst.code) if self.worst else (status, EXIT[status])
        )
        print(f"status: {status}")
        sys.stdout.flush()
        return code


def name_of(text):
    """An argument that is an object's name and no flag of kubectl."""
    if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name of a Kubernetes object")
    return text


def header(source, window="now"):
    print(f"source: {plain(source)}")
    print(f"window: {plain(window)}")


def run(main):
    try:
        code = main()
    except Ended as ended:
        print(f"note: {ended.note}\nstatus: {ended.status}")
        code = ended.code
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        print("note: an object of the answer has a shape that this script does not know")
        print("status: source_error")
        code = FAILED
    sys.exit(code)


# --- End of what is the same.


COUNTS = ("pending", "running", "succeeded", "failed", "terminating", "unknown", "retryCount")


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("job", type=name_of)
    parser.add_argument("--namespace", "-n", type=name_of, required=True)
    asked = parser.parse_args()
    space = asked.namespace
    header(f"kubectl: Volcano job {asked.job} in {space}, its pods, PodGroup and events")
    report = Report()
    job = named("jobs.batch.volcano.sh", asked.job, "-n", space)
    state = at(job, "status", "state")
    show(
        "phase",
        told(at(state, "phase")),
        "since",
        told(at(state, "lastTransitionTime")),
        "reason",
        told(at(state, "reason")),
        "message",
        told(at(state, "message")),
    )
    show(
        "queue",
        told(at(job, "spec", "queue")),
        "minAvailable",
        told(at(job, "spec", "minAvailable")),
        "maxRetry",
        told(at(job, "spec", "maxRetry")),
        *(f"{key}={told(at(job, 'status', key))}" for key in COUNTS),
    )
    listed(
        "tasks",
        [
            (
                told(at(one, "name")),
                "replicas",
                told(at(one, "replicas")),
                "minAvailable",
                told(at(one, "minAvailable")),
            )
            for one in at(job, "spec", "tasks") or []
        ],
    )
    pods = report.section(
        "pods", lambda: items("pods", "-n", space, "-l", f"volcano.sh/job-name={asked.job}")
    )
    if pods is not None:
        listed(
            "pods",
            [
                (
                    told(at(one, "metadata", "name")),
                    told(at(one, "status", "phase")),
                    "node",
                    told(at(one, "spec", "nodeName")),
                    ended(one),
                )
                for one in pods
            ],
        )
    uid = at(job, "metadata", "uid")
    groups = report.section(
        "podgroups", lambda: items("podgroups.scheduling.volcano.sh", "-n", space)
    )
    if groups is not None:
        listed(
            "podgroups",
            [
                (
                    told(at(one, "metadata", "name")),
                    told(at(one, "status", "phase")),
                    "minMember",
                    told(at(one, "spec", "minMember")),
                    told(at(one, "status", "conditions")),
                )
                for one in groups
                if uid is not None
                and any(
                    at(owner, "uid") == uid
                    for owner in at(one, "metadata", "ownerReferences") or []
                )
            ],
        )
    found = report.section("events of the job", lambda: events(space, "Job", asked.job))
    if found is not None:
        listed("events on objects of kind Job with this name", found)
    return report.end()


def ended(pod):
    """Exit codes and reasons of the containers of a pod that ended."""
    said = []
    for one in at(pod, "status", "containerStatuses") or []:
        for when in ("state", "lastState"):
            done = at(one, when, "terminated")
            if done is not None:
                said.append(
                    f"{told(at(one, 'name'))} {when}: exit {told(at(done, 'exitCode'))}"
                    f" {told(at(done, 'reason'))}"
                )
    return "; ".join(said) or "no container ended"


run(main)
