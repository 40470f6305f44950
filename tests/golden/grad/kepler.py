import math


def kepler_grad(mean_anomaly, eccentricity):
    # forward sweep
    change = 1.0
    e = mean_anomaly
    e_tape = []
    while abs(change) > 1e-13:
        difference = e - eccentricity * math.sin(e) - mean_anomaly
        change = difference / (1.0 - eccentricity * math.cos(e))
        e_tape.append(e)
        e -= change
    # reverse sweep
    # programs.py  return e
    e_bar = 1.0
    eccentricity_bar = 0.0
    mean_anomaly_bar = 0.0
    while e_tape:
        # programs.py  change = (e - eccentricity * math.sin(e) - mean_anomaly) / (
        e = e_tape.pop()
        cos = math.cos(e)
        difference_1 = 1.0 - eccentricity * cos
        quotient_1 = e_bar / difference_1
        sin = math.sin(e)
        quotient = (e - eccentricity * sin - mean_anomaly) / difference_1 / difference_1
        product = quotient * e_bar
        mean_anomaly_bar += quotient_1
        eccentricity_bar += quotient_1 * sin - product * cos
        e_bar_1 = sin * eccentricity * product - quotient_1
        e_bar += e_bar_1 + eccentricity * quotient_1 * cos
    return mean_anomaly_bar + e_bar, eccentricity_bar
