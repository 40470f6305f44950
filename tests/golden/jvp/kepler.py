import math


def kepler_jvp(mean_anomaly, eccentricity, mean_anomaly_dot, eccentricity_dot):
    change = 1.0
    e_dot = mean_anomaly_dot
    e = mean_anomaly
    while abs(change) > 1e-13:
        sin = math.sin(e)
        total = sin * eccentricity_dot + eccentricity * (math.cos(e) * e_dot)
        cos = math.cos(e)
        difference_1 = cos * eccentricity_dot - eccentricity * (math.sin(e) * e_dot)
        difference = 1.0 - eccentricity * cos
        change = (e - eccentricity * sin - mean_anomaly) / difference
        change_dot = (e_dot - total - mean_anomaly_dot
            ) / difference + change / difference * difference_1
        e_dot -= change_dot
        e -= change
    return e, e_dot
