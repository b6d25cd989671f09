#!/usr/bin/env python3
"""Count statuses and latencies in the access log of pods, over one absolute window, in one pass."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta

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


TOP = 20  # paths of each list
DISTINCT = 5000  # paths counted one by one; the rest are counted together, and said
LONGEST = timedelta(hours=24)  # of a window
SLACK = timedelta(minutes=5)  # a line is logged when its request ends: read on behind the window
# [31/Jan/2025:10:00:00 +0000] "GET /a?b HTTP/1.1" 200 512 ... , of the common and combined form
LINE = re.compile(
    r"[^\[]*\[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "
    r'"((?:[^"\\]|\\.)*)" (\d{3}) (?:\d+|-)(.*)'
)
REQUEST = re.compile(r"([A-Z]{3,10}) (\S+)(?: HTTP/\S+)?")
# What stands behind the two quoted fields of the combined form in ingress-nginx's default:
# request_length request_time [upstream] [] address length upstream_time upstream_status id
TIMED = re.compile(
    r'(?: "(?:[^"\\]|\\.)*"){2} \d+ (\d+\.\d+) \[[^\]]*\] \[[^\]]*\] '
    r"(?:\S+ ){3,64}(-|\d{3}) \S+\s*"
)
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
PERCENTILES = (50, 90, 99)
LENGTH = 16384  # characters; a longer line is counted as one of no known form
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def moment(text):
    """An argument that is a time with a zone, in UTC."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", text):
        raise argparse.ArgumentTypeError(f"{text!r}: write 2025-01-31T10:00:00Z")
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None


def logged(text):
    """The time of a line in UTC, read without the locale; None where there is no such time."""
    try:
        day, month, year = text[:11].split("/")
        zone = timedelta(hours=int(text[22:24]), minutes=int(text[24:26]))
        local = datetime(
            int(year), MONTHS.index(month) + 1, int(day), *map(int, text[12:20].split(":"))
        )
        return (local + (zone if text[21] == "-" else -zone)).replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def rank(values, percent):
    """The smallest value that `percent` of the sorted values do not exceed (nearest rank)."""
    return values[max(0, -(-len(values) * percent // 100) - 1)]


class Tally:
    """Counts of one pass."""

    def __init__(self, asked):
        self.asked = asked
        self.scanned = self.unread = self.outside = self.matched = self.other = 0
        self.statuses, self.paths, self.failing = Counter(), Counter(), Counter()
        self.upstream, self.seconds = Counter(), []
        self.first = self.last = None

    def add(self, line):
        self.scanned += 1
        found = LINE.fullmatch(line) if len(line) <= LENGTH else None
        at = logged(found[1]) if found else None
        if at is None:
            self.unread += 1
            return
        if not self.asked.begin <= at < self.asked.end:
            self.outside += 1
            return
        request = REQUEST.fullmatch(found[2])
        path = request[2].partition("?")[0] if request else "(no request)"
        if self.asked.path_prefix and not path.startswith(self.asked.path_prefix):
            self.other += 1
            return
        self.matched += 1
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)
        self.statuses[found[3]] += 1
        if path not in self.paths and len(self.paths) >= DISTINCT:
            path = "(other paths)"
        self.paths[path] += 1
        if found[3][0] == "5":
            self.failing[path] += 1
        timed = TIMED.fullmatch(found[4])
        if timed:
            self.seconds.append(float(timed[1]))
            self.upstream[timed[2]] += 1  # after retries the last one's

    def report(self):
        total = self.matched
        listed(
            "statuses",
            [(code, n, f"{100 * n / total:.2f} %") for code, n in sorted(self.statuses.items())],
        )
        values = sorted(self.seconds)
        print(f"seconds of a request: known of {len(values)} of {total}")
        if values:
            show(*(f"p{p} {rank(values, p):.3f}" for p in PERCENTILES), f"max {values[-1]:.3f}")
            rows = self.upstream.most_common(TOP)
            listed(f"statuses of the backend (of {len(self.upstream)} the most frequent)", rows)
        listed(f"paths (of {len(self.paths)} the most frequent)", self.paths.most_common(TOP))
        listed(f"paths with 5xx (of {len(self.failing)})", self.failing.most_common(TOP))
        if total:
            print(f"first: {self.first.isoformat()}\nlast: {self.last.isoformat()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--namespace", "-n", type=name_of, required=True)
    parser.add_argument("--selector", required=True, help="labels of the pods that wrote the log")
    parser.add_argument("--container", type=name_of)
    parser.add_argument("--begin", type=moment, required=True, help="such as 2025-01-31T10:00:00Z")
    parser.add_argument("--end", type=moment, required=True, help="not in the window itself")
    parser.add_argument("--path-prefix", help="only requests whose path begins so")
    asked = parser.parse_args()
    if not timedelta(0) < asked.end - asked.begin <= LONGEST:
        parser.error("--end is behind --begin, by at most 24 hours")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9./_=,-]{0,250}", asked.selector):
        parser.error("argument --selector: labels, such as app=web")
    if asked.path_prefix is not None and not re.fullmatch(r"/\S*", asked.path_prefix):
        parser.error("argument --path-prefix: begins with / and has no space")
    since = asked.begin.strftime("%Y-%m-%dT%H:%M:%SZ")
    until = asked.end.strftime("%Y-%m-%dT%H:%M:%SZ")
    header(
        f"kubectl: access log of the pods {asked.selector} in {asked.namespace}",
        f"{since} to {until}, by the time in the line",
    )
    print(f"filter: {plain(asked.path_prefix) if asked.path_prefix else 'none'}")
    pods = items("pods", "-n", asked.namespace, "-l", asked.selector)
    if not pods:
        raise Ended("not_found", "no pod carries these labels, so no log was read")
    report, tally = Report(), Tally(asked)
    for pod in pods:
        name = at(pod, "metadata", "name")
        if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
            raise Ended("source_error", "a pod has no name", 5)
        words = ["logs", name, "-n", asked.namespace, f"--since-time={since}", "--timestamps"]
        if asked.container:
            words += ["-c", asked.container]
        raw = report.section(f"pod {name}", lambda words=words: kubectl(*words))
        if raw is None:
            continue
        read, reach = 0, None
        for line in raw.removesuffix(b"\n").split(b"\n") if raw else []:
            stamp, _, text = line.decode("utf-8", "replace").partition(" ")
            if not STAMP.match(stamp):  # words of kubectl or of the kubelet, not of the container
                tally.scanned, tally.unread = tally.scanned + 1, tally.unread + 1
                continue
            reach = reach or stamp
            if stamp[:19] > (asked.end + SLACK).strftime("%Y-%m-%dT%H:%M:%S"):
                break
            read += 1
            tally.add(text)
        started = told(at(pod, "status", "startTime"))
        show(f"pod {name}: {read} lines, the first at {told(reach)}, started {started}")
    tally.report()
    print(f"not of a known form: {tally.unread}\noutside the window: {tally.outside}")
    print(f"other paths: {tally.other}\nscanned: {tally.scanned}\nmatched: {tally.matched}")
    if tally.scanned and tally.unread == tally.scanned:
        raise Ended("not_a_log_file", "no line has the form of an access log", 4)
    return report.end("ok" if tally.matched else "no_match" if tally.scanned else "empty_source")


run(main)
