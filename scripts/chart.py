#!/usr/bin/env python3
"""Draws the SVG charts of Benchmarks/README.md from JSON files that the benchmarks write with --json.

usage: scripts/chart.py FILE.json ... [--output FOLDER]

The "kind" in each file determines which charts are drawn. They are written to FOLDER, by default Benchmarks/charts.
"""
import json, math, pathlib, sys
from xml.sax.saxutils import escape

# Okabe and Ito's palette, which readers without color vision can also tell apart.
BLUE, ORANGE, GREEN, PINK, AMBER, SKY, INK, GREY, GRID = (
    "#0072B2", "#D55E00", "#009E73", "#B0578D", "#B07A00", "#2F8DC4", "#222222", "#666666", "#E3E3E3")
PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 320, 250, 66, 90, 184, 52


class Line:
    def __init__(self, label, color, values, dash=""):
        self.label, self.color, self.values, self.dash = label, color, values, dash


class Axis:
    """An axis from low to high, with a tick at each of `marks`."""

    def __init__(self, low, high, marks, text):
        self.low, self.high, self.marks, self.text = low, high, marks, text

    def place(self, value):
        return (value - self.low) / (self.high - self.low)


def linear_axis(values, low=0.0, step_count=5, text=lambda v: f"{v:g}"):
    high = max(values)
    raw = (high - low) / step_count
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw)
    count = math.ceil((high - low) / step - 1e-9)
    marks = [low + step * i for i in range(count + 1)]
    return Axis(low, marks[-1], marks, text)


def text(x, y, words, size=12, color=INK, anchor="start", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{escape(words)}</text>')


def spread(places, gap):
    """Moves positions apart to at least `gap`, and keeps their order and, if possible, their center."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = [places[i] for i in order]
    for _ in range(200):
        for i in range(len(moved) - 1):
            lack = gap - (moved[i + 1] - moved[i])
            if lack > 0.01:
                moved[i] -= lack / 2
                moved[i + 1] += lack / 2
    result = [0.0] * len(places)
    for i, place in zip(order, moved):
        result[i] = place
    return result


def panel(x0, title, lines, xs, x_names, x_title, axis, y_title, reference=None):
    """Returns the SVG elements of a panel whose plot begins at x0. `xs` are positions from 0 to 1."""
    top, bottom, parts = TOP, TOP + PANEL_HEIGHT, []
    place_x = lambda share: x0 + share * PANEL_WIDTH
    place_y = lambda value: bottom - axis.place(value) * PANEL_HEIGHT
    parts.append(text(x0, top - 30, title, 13, weight="bold"))
    parts.append(text(x0, top - 13, y_title, 11, GREY))
    for mark in axis.marks:
        y = place_y(mark)
        parts.append(f'<line x1="{x0}" y1="{y:.1f}" x2="{x0 + PANEL_WIDTH}" y2="{y:.1f}" stroke="{GRID}"/>')
        parts.append(text(x0 - 8, y + 4, axis.text(mark), 11, GREY, "end"))
    if reference is not None:
        y = place_y(reference)
        parts.append(f'<line x1="{x0}" y1="{y:.1f}" x2="{x0 + PANEL_WIDTH}" y2="{y:.1f}" stroke="{GREY}" '
                     'stroke-width="1.5"/>')
    parts.append(f'<line x1="{x0}" y1="{bottom}" x2="{x0 + PANEL_WIDTH}" y2="{bottom}" stroke="{GREY}"/>')
    for share, name in zip(xs, x_names):
        x = place_x(share)
        parts.append(f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 4}" stroke="{GREY}"/>')
        parts.append(text(x, bottom + 18, name, 11, GREY, "middle"))
    parts.append(text(x0 + PANEL_WIDTH / 2, bottom + 38, x_title, 11, GREY, "middle"))
    ends = []
    for line in lines:
        points = [(place_x(share), place_y(value)) for share, value in zip(xs, line.values) if value is not None]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{line.color}" stroke-width="2"{dash}/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{line.color}"/>' for x, y in points]
        ends.append(points[-1])
    for line, (x, y), label_y in zip(lines, ends, spread([y for _, y in ends], 15)):
        if abs(label_y - y) > 3:
            parts.append(f'<line x1="{x + 4:.1f}" y1="{y:.1f}" x2="{x + 12:.1f}" y2="{label_y:.1f}" stroke="{line.color}" '
                         'stroke-width="0.8"/>')
        parts.append(text(x + 14, label_y + 4, line.label, 11.5, line.color))
    return parts


def write(path, title, panels):
    """Writes a chart. Each of `panels` is a function that takes the left edge of a plot and returns the elements of the panel."""
    step = LEFT + PANEL_WIDTH + RIGHT
    width, height = step * len(panels), TOP + PANEL_HEIGHT + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, Helvetica, Arial, sans-serif" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>',
        text(18, 26, title, 16, weight="bold"),
    ]
    for index, make in enumerate(panels):
        parts += make(index * step + LEFT)
    path.write_text("\n".join(parts + ["</svg>"]) + "\n")
    print(path)


def plugins_chart(report, folder):
    costs = {cost["name"]: cost["nanoseconds"] / 1000 for cost in report["costs"]}
    base = costs["stubbed request, no plugins"]
    counts = [0, 1, 8, 32]
    colors = {"intercept": ORANGE, "exchange": INK, "prepare": BLUE, "process": GREEN, "didReceive": PINK, "willSend": AMBER,
              "didFinish": SKY}
    lines = [Line(stage, color, [base] + [costs[f"{count} × {stage}"] for count in counts[1:]])
             for stage, color in colors.items()]
    axis = linear_axis([value for line in lines for value in line.values])
    write(folder / "plugins.svg", "What a plugin costs", [
        lambda x: panel(x, "Plugins that do nothing, over a stub", lines, [count / 32 for count in counts],
                        ["0", "", "8", "32"], "plugins of the stage", axis, "µs per request")])


def contest_panels(rows, x_names, x_title):
    def of(transport, side, key):
        return [next(r[key] for r in row["results"] if r["side"] == side) for row in rows if row["transport"] == transport]

    xs = [i / (len(x_names) - 1) for i in range(len(x_names))]
    clients = [("AsyncHTTPClient", BLUE), ("URLSession", ORANGE)]
    rates = [Line(f"{name}{label}", color, of(name, side, "requestsPerSecond"), dash) for name, color in clients
             for side, label, dash in (("directly", ", directly", "2 4"), ("six plugins", ", six plugins", ""))]
    ratios = [Line(f"{name}, {side}", color, of(name, side, "ofDirect"), dash) for name, color in clients
              for side, dash in (("no plugins", "6 4"), ("six plugins", ""))]
    values = [value for line in rates for value in line.values]
    rate_axis = linear_axis(values, text=lambda v: f"{v:,.0f}")
    shares = [value for line in ratios for value in line.values]
    low = min(0.8, math.floor(min(shares) * 20) / 20)
    share_axis = linear_axis(shares + [1.05], low=low, text=lambda v: f"{v:.2f}")
    return [
        lambda x: panel(x, "Rate", rates, xs, x_names, x_title, rate_axis,
                        "requests per second"),
        lambda x: panel(x, "Compared with the client called directly", ratios, xs, x_names, x_title, share_axis,
                        "requests per second, 1 = the same", reference=1.0),
    ]


def transports_charts(report, folder):
    rows = report["concurrency"]
    names = [str(count) for count in dict.fromkeys(row["inFlight"] for row in rows)]
    write(folder / "concurrency.svg", "Requests for 1 KiB, by how many are in flight",
          contest_panels(rows, names, "requests in flight"))


ROOT = pathlib.Path(__file__).resolve().parent.parent
CHARTS = {"overhead": plugins_chart, "transports": transports_charts}


def main(arguments):
    folder = ROOT / "Benchmarks/charts"
    if "--output" in arguments[:-1]:
        index = arguments.index("--output")
        folder = pathlib.Path(arguments[index + 1])
        del arguments[index:index + 2]
    if not arguments:
        sys.exit(__doc__)
    folder.mkdir(parents=True, exist_ok=True)
    for name in arguments:
        report = json.loads(pathlib.Path(name).read_text())
        # Other benchmarks have no chart.
        draw = CHARTS.get(report.get("kind"))
        if draw:
            draw(report, folder)


main(sys.argv[1:])
