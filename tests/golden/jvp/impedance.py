import numpy as np


def impedance_jvp(resistance, inductance, capacitance, omega, resistance_dot,
    inductance_dot, capacitance_dot, omega_dot):
    product = 1.0j * omega
    product_3 = 1.0j * omega_dot
    total = resistance_dot + (inductance * product_3 + product * inductance_dot)
    product_1 = 1.0j * omega
    product_2 = product_1 * capacitance
    quotient = 1.0 / product_2
    product_1 = quotient / product_2 * (capacitance * product_3 + product_1 *
        capacitance_dot)
    z = resistance + product * inductance + quotient
    z_dot = total - product_1
    modulus = abs(z)
    real = ((np.conjugate(z) / modulus if modulus != 0 else 0.0) * z_dot).real
    return modulus, real
