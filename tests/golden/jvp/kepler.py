import math


def kepler_jvp(mean_anomaly, eccentricity, mean_anomaly_dot, eccentricity_dot):
    change = 1.0
    e_dot = mean_anomaly_dot
    e = mean_anomaly
    while abs(change) > 1e-13:
        sin = math.sin(e)
        cos = math.cos(e)
        difference = 1.0 - eccentricity * cos
        change = (e - eccentricity * sin - mean_anomaly) / difference
        difference_dot = e_dot - (sin * eccentricity_dot + eccentricity * cos * e_dot)
        quotient = (difference_dot - mean_anomaly_dot) / difference
        product_dot = cos * eccentricity_dot - eccentricity * sin * e_dot
        change_dot = quotient + change / difference * product_dot
        e_dot -= change_dot
        e -= change
    return e, e_dot
