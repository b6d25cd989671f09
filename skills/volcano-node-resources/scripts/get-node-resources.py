#!/usr/bin/env python3
"""Say of each node what it can give, what pods on it request, and what is left."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

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


SUFFIX = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": 1,
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "P": 10**15,
    "E": 10**18,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "Pi": 2**50,
    "Ei": 2**60,
}


def amount(text):
    """A Kubernetes quantity as an exact number, or Ended for one that is none."""
    found = re.fullmatch(
        r"([+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30}))"
        r"(?:[eE]([+-]?\d{1,2})|([KMGTPE]i|[numkMGTPE])?)",
        str(text),
    )
    if found is None:
        raise Ended("source_error", "the API server gave a quantity that is none", 5)
    number = Fraction(found.group(1))
    if found.group(2):
        return number * Fraction(10) ** int(found.group(2))
    return number * SUFFIX[found.group(3) or ""]


def figure(name, number):
    """A sum in the unit people use: cores, MiB, or a plain count."""
    if name in ("memory", "ephemeral-storage") or name.startswith("hugepages-"):
        return f"{float(number / 2**20):.0f}Mi"
    return f"{float(number):g}"


def requested(pod, name):
    """What the scheduler counts for a pod: the larger of its containers together (with the init
    containers that keep running) and of the largest step of its start, and its overhead."""

    def of(one):
        return amount(at(one, "resources", "requests", name) or 0)

    steady = sum((of(one) for one in at(pod, "spec", "containers") or []), Fraction(0))
    beside = most = Fraction(0)
    for one in at(pod, "spec", "initContainers") or []:
        if at(one, "restartPolicy") == "Always":
            beside += of(one)
            most = max(most, beside)
        else:
            most = max(most, beside + of(one))
    return max(steady + beside, most) + amount(at(pod, "spec", "overhead", name) or 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--node", type=name_of)
    parser.add_argument(
        "--resource",
        action="append",
        default=[],
        metavar="NAME",
        help="also this resource, such as nvidia.com/gpu (repeat)",
    )
    asked = parser.parse_args()
    for name in asked.resource:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9./-]{0,250}", name):
            parser.error(f"argument --resource: {name!r} is no name of a resource")
    header("kubectl: nodes, and the pods bound to them (requests, not what they use)")
    report = Report()
    nodes = [named("nodes", asked.node)] if asked.node else items("nodes")
    pods = report.section("requests", lambda: items("pods", "-A"))
    held = {}
    for pod in pods or []:
        if at(pod, "status", "phase") not in ("Succeeded", "Failed"):
            held.setdefault(at(pod, "spec", "nodeName"), []).append(pod)
    rows = []
    for node in nodes:
        name, can = at(node, "metadata", "name"), at(node, "status", "allocatable") or {}
        extra = sorted(key for key in can if "/" in key)
        row = [
            told(name),
            "ready",
            ready(node),
            "unschedulable" if at(node, "spec", "unschedulable") else "schedulable",
        ]
        for kind in dict.fromkeys(["cpu", "memory", *extra, *asked.resource]):
            if kind not in can:
                row.append(f"{kind}: not offered")
                continue
            whole = amount(can[kind])
            if pods is None:
                row.append(f"{kind}: allocatable {figure(kind, whole)}, requested unknown")
                continue
            taken = sum((requested(pod, kind) for pod in held.get(name, [])), Fraction(0))
            row.append(
                f"{kind}: allocatable {figure(kind, whole)}, requested "
                f"{figure(kind, taken)}, left {figure(kind, whole - taken)}"
            )
        row.append(f"taints {plain(at(node, 'spec', 'taints') or [])}")
        rows.append(row)
    listed("nodes", rows)
    return report.end("ok" if nodes else "no_match")


def ready(node):
    for one in at(node, "status", "conditions") or []:
        if at(one, "type") == "Ready":
            return told(at(one, "status"))
    return "unknown"


run(main)
