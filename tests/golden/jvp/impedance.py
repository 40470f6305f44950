def impedance_jvp(
    resistance,
    inductance,
    capacitance,
    omega,
    resistance_dot,
    inductance_dot,
    capacitance_dot,
    omega_dot,
):
    product = 1.0j * omega
    product_dot = 1.0j * omega_dot
    product_1 = 1.0j * omega
    product_2 = product_1 * capacitance
    quotient = 1.0 / product_2
    z = resistance + product * inductance + quotient
    total_dot = resistance_dot + (inductance * product_dot + product * inductance_dot)
    product_dot_1 = capacitance * product_dot + product_1 * capacitance_dot
    z_dot = total_dot - quotient / product_2 * product_dot_1
    modulus = abs(z)
    return modulus, ((z.conjugate() / modulus if modulus != 0 else 0.0) * z_dot).real
