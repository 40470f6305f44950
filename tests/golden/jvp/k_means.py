import numpy as np


def k_means_jvp(points, centres, points_dot, centres_dot):
    offset = points[:, None] - centres[None]
    offset_dot = points_dot[:, None] - centres_dot[None]
    distance = np.sum(offset**2, axis=2)
    distance_dot = np.sum(2.0 * (offset * offset_dot), axis=2)
    extremum = np.min(distance, axis=1)
    distance_is_equal = distance == extremum[:, None]
    count_nonzero = np.count_nonzero(distance_is_equal, axis=1, keepdims=True)
    total_dot = np.sum(np.sum(distance_is_equal / count_nonzero * distance_dot, axis=1))
    return np.sum(extremum), total_dot
