"""Throw a ball at a target: a simulation's gradient, seen, checked, timed and used.

`make demo` runs it.
"""

import math
import time

import trajectory
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

import gradwright as gw

CONSOLE = Console(highlight=False)
THROW = (30.0, math.radians(30.0), 0.005)  # speed, angle, drag
TARGET = 55.0  # m
NAMES = ("speed", "angle", "drag")
UNITS = ("m/s", "rad", "1/m")


def title(text):
    CONSOLE.print()
    CONSOLE.rule(f"[bold]{text}", align="left", style="dim")


def table(*headings):
    made = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 3, 0, 0))
    for k, heading in enumerate(headings):
        made.add_column(heading, justify="right" if k else "left")
    return made


# ---- see ---------------------------------------------------------------------------


def see(f, gradient):
    title("The simulation, as it stands in examples/trajectory.py")
    with open(trajectory.__file__, encoding="utf-8") as file:
        text = file.read()
    shown = text[text.index("def wind") : text.index("def path")].rstrip()
    CONSOLE.print(colour(shown))
    start = time.perf_counter()
    gradient.source(*THROW)
    seconds = time.perf_counter() - start
    title(f"The gradient that gradwright wrote of it, in {seconds * 1e3:.0f} ms")
    gradient.show(*THROW)


def colour(text):
    return Syntax(text, "python", theme="ansi_dark", background_color="default")


# ---- check -------------------------------------------------------------------------


def check(f, gradient):
    title("The check: central differences of the simulation itself")
    made = table("metres per", "gradient", "central difference", "relative error")
    for k, g in enumerate(gradient(*THROW)):
        h = 1e-5 * THROW[k]
        high, low = moved(k, h), moved(k, -h)
        difference = (f(*high) - f(*low)) / (2.0 * h)
        error = abs(g - difference) / abs(difference)
        assert error < 1e-6, (NAMES[k], g, difference)
        made.add_row(
            f"{UNITS[k]} of {NAMES[k]}",
            f"[bold]{g:.9f}",
            f"{difference:.9f}",
            f"[green]{error:.0e}",
        )
    CONSOLE.print(made)


def moved(k, h):
    return tuple(a + h * (i == k) for i, a in enumerate(THROW))


# ---- time --------------------------------------------------------------------------


def clock(f, gradient):
    title("The time: plain Python, nothing compiled")
    once, with_gradient = best(f), best(gradient)
    made = table("one call of", "time", "")
    made.add_row("the simulation", f"{once * 1e6:.0f} µs", "")
    made.add_row(
        "its gradient, all three at once",
        f"{with_gradient * 1e6:.0f} µs",
        f"[bold]{with_gradient / once:.1f} simulations",
    )
    made.add_row("six, for differences", f"{6 * once * 1e6:.0f} µs", "6.0 simulations")
    CONSOLE.print(made)


def best(f, runs=200):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        f(*THROW)
        times.append(time.perf_counter() - start)
    return min(times)


# ---- use ---------------------------------------------------------------------------


def use(f):
    title(f"The use: Newton's method aims at a target {TARGET:.0f} m away")
    speed, angle, drag = THROW
    slope = gw.value_and_grad(f, argnames="angle")
    steps = table("step", "angle", "lands at", "misses by")
    angles = [angle]
    for k in range(6):
        lands, per_radian = slope(speed, angle, drag)
        miss = lands - TARGET
        done = abs(miss) < 1e-9
        steps.add_row(
            str(k),
            f"{math.degrees(angle):.6f}°",
            f"{lands:.9f} m",
            f"[{'bold green' if done else 'default'}]{miss:+.1e} m",
        )
        if done:
            break
        angle -= miss / per_radian
        angles.append(angle)
    assert done, miss
    CONSOLE.print(steps)
    CONSOLE.print(picture(speed, angles, drag))


def picture(speed, angles, drag, width=70, height=14):
    """The first and the last flight, in dots of Braille: two by four in a character."""
    flights = [trajectory.path(speed, a, drag) for a in (angles[0], angles[-1])]
    right = 1.03 * max(x for flight in flights for x, _ in flight)
    top = 1.03 * max(y for flight in flights for _, y in flight)
    cells = {}
    for style, flight in zip(("red", "green"), flights, strict=True):
        for x, y in flight:
            column = int(2 * width * x / right)
            row = int(4 * height * (1.0 - max(y, 0.0) / top))
            dots, _ = cells.get((row // 4, column // 2), (0, style))
            cells[row // 4, column // 2] = dots | DOTS[row % 4][column % 2], style
    text = Text()
    for row in range(height):
        for column in range(width):
            dots, style = cells.get((row, column), (0, ""))
            text.append(chr(0x2800 + dots), style)
        text.append("\n")
    mark = int(width * TARGET / right)
    text.append("▔" * mark, "dim").append("◎", "bold yellow")
    text.append("▔" * (width - mark - 1), "dim")
    last = f"after {len(angles) - 1} steps"
    legend = f"[red]first throw[/], [green]{last}[/], [yellow]◎ target"
    return Panel(text, title=legend, border_style="dim", expand=False)


DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


def main():
    f = trajectory.landing
    gradient = gw.grad(f, argnums=(0, 1, 2))
    see(f, gradient)
    check(f, gradient)
    clock(f, gradient)
    use(f)


if __name__ == "__main__":
    main()
