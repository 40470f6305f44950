import math


def kepler_grad(mean_anomaly, eccentricity):
    # forward sweep
    change = 1.0
    e = mean_anomaly
    sin_tape = []
    cos_tape = []
    e_tape = []
    trips = 0
    while abs(change) > 1e-13:
        trips += 1
        sin = math.sin(e)
        sin_tape.append(sin)
        cos = math.cos(e)
        cos_tape.append(cos)
        change = (e - eccentricity * sin - mean_anomaly) / (1.0 - eccentricity * cos)
        e_tape.append(e)
        e -= change
    # reverse sweep
    # programs.py  return e
    e_bar = 1.0
    change_bar = 0.0
    eccentricity_bar = 0.0
    mean_anomaly_bar = 0.0
    for _ in range(trips):
        # programs.py  e -= change
        change_bar -= e_bar
        # programs.py  change = (e - eccentricity * math.sin(e) - mean_anomaly) / (
        cos_1 = cos_tape.pop()
        difference = 1.0 - eccentricity * cos_1
        difference_bar = change_bar / difference
        e = e_tape.pop()
        sin_1 = sin_tape.pop()
        quotient = (e - eccentricity * sin_1 - mean_anomaly) / difference / difference
        product_bar = quotient * change_bar
        mean_anomaly_bar -= difference_bar
        eccentricity_bar += cos_1 * product_bar - sin_1 * difference_bar
        e_bar_1 = difference_bar - math.sin(e) * eccentricity * product_bar
        e_bar += e_bar_1 - eccentricity * difference_bar * math.cos(e)
        change_bar = 0.0
    return mean_anomaly_bar + e_bar, eccentricity_bar
