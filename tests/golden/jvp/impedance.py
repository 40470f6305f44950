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
    product = 1.0j * omega * capacitance
    z = resistance + 1.0j * omega * inductance + 1.0 / product
    product_dot_1 = capacitance * 1.0j * omega_dot + 1.0j * omega * capacitance_dot
    product_dot = inductance * 1.0j * omega_dot + 1.0j * omega * inductance_dot
    z_dot = resistance_dot + product_dot - 1.0 / product / product * product_dot_1
    modulus = abs(z)
    return modulus, ((z.conjugate() / modulus if modulus != 0 else 0.0) * z_dot).real
