import math
import numpy as np


def shadows_grad(points, centres, radius):
    points_bar = np.zeros_like(points)
    for i, point in enumerate(points):
        ray = point + 2.0
        distance = np.sqrt(np.dot(ray, ray))
        quotient = ray / distance
        ray_1 = ray.copy()
        ray[...] = quotient
        every = True
        for c in centres:
            if not np.sum((c - np.dot(c, ray) * ray) ** 2) > radius:
                every = False
                break
        if every:
            power = distance**2
            quotient_1 = 1.0 / power
        # programs.py  light += 1.0 / distance**2
        ray_bar = np.zeros(points.shape[1])
        distance_bar = 0.0
        if every:
            distance_bar -= 2.0 * quotient_1 / power * distance
        # programs.py  ray /= distance
        distance_bar -= np.sum(quotient / distance * ray_bar)
        # programs.py  distance = np.sqrt(np.dot(ray, ray))
        dot_bar = distance_bar * (0.5 / distance if distance != 0 else math.inf)
        ray_bar[...] = ray_bar / distance + 2.0 * (dot_bar * ray_1)
        # programs.py  light += 1.0 / distance**2
        points_bar[i] += ray_bar
    centres_bar = np.zeros_like(centres)
    return points_bar, centres_bar, 0.0
