#!/usr/bin/env python3
"""Read a node's logs through the API server and the kubelet: a list, a whole file, or a unit."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from urllib.parse import quote, urlencode

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


TAIL = 200  # matching lines shown
MOST = 20000
HEAD = 4096  # bytes in which a zero byte makes a file no log
LISTING = re.compile(rb"\s*(<!doctype html>\s*)?(<meta [^>]*>\s*)?<pre>\s*(<a href=|</pre>)")
ENTRY = re.compile(rb'<a href="[^"]*">([^<]*)</a>')
PATH = re.compile(r"[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*(/[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*)*")


def matching(lines, words):
    """The lines that grep finds (extended expressions in linear time, as in the shell)."""
    try:
        ran = subprocess.run(
            ["grep", "-a", *words],
            input=b"".join(line + b"\n" for line in lines),
            capture_output=True,
            timeout=SECONDS,
        )
    except OSError as error:
        raise Ended("source_error", f"grep could not be started: {error.strerror}", 3) from None
    except subprocess.TimeoutExpired:
        raise Ended("filter_error", f"the pattern took longer than {SECONDS} s", 2) from None
    if ran.returncode > 1:
        sys.stderr.buffer.write(ran.stderr[:4096])
        raise Ended("filter_error", "grep does not accept the pattern", 2)
    return ran.stdout.split(b"\n")[:-1]


def path_of(text):
    """A path below /var/log: no step upwards, no name that begins with a dot."""
    text = text.removeprefix("/var/log/")
    if not PATH.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no path below /var/log")
    return text


def answer(asked):
    """What the kubelet sent, judged by its type: it says 200 also to what it does not know."""
    place = f"/api/v1/nodes/{asked.node}/proxy/logs/"
    if asked.unit:
        query = {"query": asked.unit, **({"sinceTime": asked.since} if asked.since else {})}
        raw = kubectl("get", "--raw", f"{place}?{urlencode(query)}")
        if LISTING.match(raw):
            raise Ended("query_unsupported", "this kubelet lists its folder instead: no unit read")
        if raw.strip() == b"-- No entries --":
            return b""
        return raw
    if asked.file:
        raw = kubectl("get", "--raw", place + quote(asked.file))
        if LISTING.match(raw):
            raise Ended("not_a_log_file", "it is a folder", 4)
        if b"\0" in raw[:HEAD] or asked.file.endswith((".gz", ".xz", ".bz2", ".zst")):
            raise Ended("not_a_log_file", "it is binary or compressed", 4)
        return raw
    raw = kubectl("get", "--raw", place + (f"{quote(asked.list)}/" if asked.list else ""))
    if not LISTING.match(raw):
        raise Ended("source_error", "the answer is no list of files", 5)
    return b"".join(name + b"\n" for name in ENTRY.findall(raw))


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--node", type=name_of, required=True)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", nargs="?", const="", help="names in /var/log or a folder below")
    what.add_argument("--file", type=path_of, help="a file below /var/log, read whole")
    what.add_argument("--unit", help="a unit's journal, where the kubelet answers queries")
    parser.add_argument("--since", help="with --unit, such as 2025-01-31T10:00:00Z")
    parser.add_argument("--tail", type=int, default=TAIL)
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--grep", action="append", help="an extended expression (repeat: or)")
    one.add_argument("--grep-fixed", action="append", help="literal words (repeat: or)")
    asked = parser.parse_args()
    if asked.list:
        try:
            asked.list = path_of(asked.list)
        except argparse.ArgumentTypeError as error:
            parser.error(f"argument --list: {error}")
    patterns = asked.grep or asked.grep_fixed or []
    if not all(patterns) or any("\n" in word for word in patterns):
        parser.error("a pattern is one line and not empty")
    if not 1 <= asked.tail <= MOST:
        parser.error(f"argument --tail: from 1 to {MOST}")
    if asked.unit is not None and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9@:_.-]*", asked.unit):
        parser.error("argument --unit: no name of a unit")
    if asked.since is not None and (
        not asked.unit
        or not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", asked.since)
    ):
        parser.error("argument --since: only with --unit, such as 2025-01-31T10:00:00Z")
    words = ["-E" if asked.grep else "-F"]
    for word in patterns:
        words += ["-e", word]
    if patterns:
        try:
            matching([], words)
        except Ended as ended:
            if ended.status == "filter_error":
                parser.error(ended.note)
            raise
    thing = (
        f"unit {asked.unit}"
        if asked.unit
        else f"file /var/log/{asked.file}"
        if asked.file
        else f"names in /var/log/{asked.list}"
    )
    window = f"since {asked.since}" if asked.since else "all that the kubelet gives out"
    header(f"kubelet of {asked.node}, by the API server: {thing}", window)
    print(f"boot: not told by the kubelet\nfilter: {plain(patterns) if patterns else 'none'}")
    raw = answer(asked)
    lines = raw.removesuffix(b"\n").split(b"\n") if raw else []
    kept = matching(lines, words) if patterns else lines
    for line in kept[-asked.tail :]:
        show(line.decode("utf-8", "replace"))
    print(f"scanned: {len(lines)}\nmatched: {len(kept)}")
    if len(kept) > asked.tail:
        print(f"note: the last {asked.tail} of {len(kept)} are shown")
    return Report().end("ok" if kept else "no_match" if lines else "empty_source")


run(main)
