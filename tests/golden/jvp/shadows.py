import math
import numpy as np


def shadows_jvp(points, centres, radius, points_dot, centres_dot, radius_dot):
    light = 0.0
    light_dot = 0.0
    for point, point_dot in zip(points, points_dot):
        ray_dot = point_dot.copy()
        ray = point + 2.0
        distance = np.sqrt(np.dot(ray, ray))
        dot_dot = np.dot(ray_dot, ray) + np.dot(ray, ray_dot)
        distance_dot = (0.5 / distance if distance != 0 else math.inf) * dot_dot
        ray /= distance
        every = True
        for c in centres:
            if not np.sum((c - np.dot(c, ray) * ray) ** 2) > radius:
                every = False
                break
        if every:
            power = distance**2
            quotient = 1.0 / power
            light_dot -= 2.0 * quotient / power * distance * distance_dot
            light += quotient
    return light, light_dot
