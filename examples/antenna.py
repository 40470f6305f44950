"""Match an antenna to a cable: complex numbers, forward mode and Newton's method.

    python examples/antenna.py

At 10 MHz an antenna of 10 ohms hangs on a cable of 50.  A coil in line with it and a
capacitor across both make it look like 50 ohms, and nothing is reflected, if their
sizes are right.  The reflection is one complex number, so two unknowns make it zero.
"""

import math

import gradwright as gw

CABLE = 50.0  # ohms
FREQUENCY = 10e6  # hertz


def reflection(coil, capacitor, antenna):
    """The share of the wave's amplitude that comes back, with its phase.

    coil: in nanohenries.  capacitor: in picofarads.  antenna: in ohms, may be complex.
    """
    w = 2.0 * math.pi * FREQUENCY
    in_line = antenna + 1j * w * coil * 1e-9
    admittance = 1.0 / in_line + 1j * w * capacitor * 1e-12
    seen = 1.0 / admittance
    return (seen - CABLE) / (seen + CABLE)


def newton_step(coil, capacitor, antenna):
    """The step that makes the linearised reflection zero, and the reflection now."""
    point = coil, capacitor, antenna
    here, by_coil = gw.jvp(reflection, point, (1.0, 0.0, 0.0))
    _, by_capacitor = gw.jvp(reflection, point, (0.0, 1.0, 0.0))
    # a by_coil + b by_capacitor = -here: two real equations in one complex one
    scale = (by_coil.conjugate() * by_capacitor).imag
    a = (here.conjugate() * by_capacitor).imag / -scale
    b = (by_coil.conjugate() * here).imag / -scale
    return a, b, here


def main():
    coil, capacitor, antenna = 250.0, 500.0, 10.0
    for k in range(7):
        a, b, here = newton_step(coil, capacitor, antenna)
        print(
            f"step {k}   coil {coil:8.4f} nH   capacitor {capacitor:8.4f} pF   "
            f"reflected {abs(here) ** 2:.1e} of the power"
        )
        coil, capacitor = coil + a, capacitor + b
    # For a real antenna the answer is known.
    q = math.sqrt(CABLE / antenna - 1.0)
    w = 2.0 * math.pi * FREQUENCY
    print(f"known    coil {q * antenna / w * 1e9:8.4f} nH", end="   ")
    print(f"capacitor {q / (w * CABLE) * 1e12:8.4f} pF")


if __name__ == "__main__":
    main()
