def impedance_grad(resistance, inductance, capacitance, omega):
    # forward sweep
    quotient = 1.0 / (1.0j * omega * capacitance)
    z = resistance + 1.0j * omega * inductance + quotient
    modulus = abs(z)
    # reverse sweep
    # programs.py  return abs(z)
    by_z = z.conjugate() / modulus if modulus != 0 else 0.0
    # programs.py  z = resistance + 1j * omega * inductance + 1.0 / (1j * omega * ...
    product = quotient / (1.0j * omega * capacitance) * by_z
    omega_bar = (-1.0j * capacitance * product).real + (1.0j * inductance * by_z).real
    capacitance_bar = (-product * 1.0j * omega).real
    return by_z.real, (by_z * 1.0j * omega).real, capacitance_bar, omega_bar
