import numpy as np


def impedance_grad(resistance, inductance, capacitance, omega):
    # forward sweep
    product = 1.0j * omega * capacitance
    quotient = 1.0 / product
    z = resistance + 1.0j * omega * inductance + quotient
    modulus = abs(z)
    # reverse sweep
    # programs.py  return abs(z)
    chosen = np.conjugate(z) / modulus if modulus != 0 else 0.0
    # programs.py  z = resistance + 1j * omega * inductance + 1.0 / (1j * omega * capacitance)
    product = quotient / product * chosen
    omega_bar = (-(1.0j * (capacitance * product))).real + (1.0j * (inductance * chosen)
        ).real
    return float(chosen.real), float((chosen * (1.0j * omega)).real), float((-(
        product * (1.0j * omega))).real), float(omega_bar)
