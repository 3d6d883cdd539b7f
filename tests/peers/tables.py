"""The tables of a run, in Markdown, and where they go: between two marks of a page."""

import platform
from pathlib import Path

MARKS = "<!-- peers: written by tests/peers/run -->\n", "<!-- end of peers -->\n"


def is_good(problem, size, row):
    """Whether a row has a time, and the error that was asked for where one was."""
    return "seconds" in row and (bool(problem.steps) or row["findings"].error <= float(size))


def time(problem, row):
    """In ms for a run to an error; else in ns for a body and step."""
    if problem.steps:
        return 1e9 * row["seconds"] / len(problem.bodies) / row["steps"]
    return 1e3 * row["seconds"]


def unit(problem):
    return "ns" if problem.steps else "ms"


def asked(problem, size):
    if problem.steps:
        return f"{problem.title}, a body and step"
    return f"{problem.title} to {size} m"


def base(problem, size, rows):
    """The time of our first method that is good."""
    ours = [time(problem, row) for row in rows if row["name"] == "mbdsl" and is_good(problem, size, row)]
    return ours[0] if ours else None


def digits(x):
    """Three digits of a time or ratio."""
    return f"{x:.0f}" if x >= 99.95 else f"{x:.3g}"


def small(x):
    if x is None:
        return ""
    return "0" if x == 0 else f"{x:.0e}".replace("e-0", "e-").replace("e+00", "")


def long_row(problem, size, row, ours):
    cells = [asked(problem, size), row["name"]]
    if "cannot" in row:
        why = f"{row['method']}: {row['cannot']}" if row["method"] else row["cannot"]
        return cells + [why.replace("|", "/")] + [""] * 7
    findings, taken = row["findings"], time(problem, row)
    steps = str(row["steps"])
    measured = f"{digits(taken)} {unit(problem)}"
    if is_good(problem, size, row):
        ratio = digits(taken / ours) if ours else ""
    else:
        ratio = "not reached"
    error = "" if findings.error is None else f"{findings.error:.1e}".replace("e-0", "e-").replace("e+00", "")
    levels = [small(findings.gap), small(findings.slip), small(findings.energy)]
    return cells + [row["method"], steps, measured, ratio, error, *levels]


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def about(facts):
    """When, where and what was measured."""
    model = next((line.split(":")[1].strip() for line in cpu_lines() if line.startswith("model name")), "unknown processor")
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    text = f"Measured on {facts['date']} on one core of {model} ({platform.machine()}, {platform.system()}), "
    text += f"medians of {facts['repeats']} turns: {versions}."
    if facts["missing"]:
        text += f" Not built here and left out: {', '.join(facts['missing'])}."
    return text + "\n"


def cpu_lines():
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def long_table(results, facts):
    head = "task|system|method|steps|CPU time|mbdsl = 1|error, m|joints open, m|and at, m/s|energy".split("|")
    rows = []
    for _, size, problem, lines in results:
        ours = base(problem, size, lines)
        rows += [long_row(problem, size, row, ours) for row in lines]
    return f"{about(facts)}\n{table(head, rows)}"


def short_table(results, facts):
    names = list(dict.fromkeys(row["name"] for *_, rows in results for row in rows))
    others = [name for name in names if name != "mbdsl"]
    lines = []
    for _, size, problem, rows in results:
        ours = base(problem, size, rows)
        cells = [asked(problem, size), f"{digits(ours)} {unit(problem)}" if ours else ""]
        for name in others:
            of_name = [time(problem, row) for row in rows if row["name"] == name and is_good(problem, size, row)]
            cells.append(digits(min(of_name) / ours) if of_name and ours else "no")
        lines.append(cells)
    return f"{table(['task', 'mbdsl', *others], lines)}\n{about(facts)}"


def write(path, text, is_dry):
    """Puts a text between the marks of a page, or prints it."""
    if is_dry:
        print(text)
        return
    page = path.read_text()
    before, rest = page.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    path.write_text(f"{before}{MARKS[0]}{text}{MARKS[1]}{after}")
