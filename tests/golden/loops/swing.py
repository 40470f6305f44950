import numpy as np


def swing_grad_batched(angle_batch, steps_batch):
    angle_bar_batch = np.zeros(len(angle_batch))
    speed_1 = np.empty(64)
    angle_1 = np.empty(64)
    angle_top_1 = np.empty(64, np.int64)
    trips = np.empty(64, np.int64)
    angle_bar = np.empty(64)
    speed_bar = np.empty(64)
    trips_1 = np.empty(64, np.int64)
    steps_1 = np.empty(64, np.int64)
    for first in range(0, len(angle_batch), 64):
        count = min(64, len(angle_batch) - first)
        speed = 0.0
        most = 0
        for lane in range(count):
            angle = angle_batch[first + lane]
            steps = steps_batch[first + lane]
            steps_1[lane] = steps
            speed_1[lane] = speed
            angle_1[lane] = angle
            size = max(int(steps), 0)
            if size > most:
                most = size
        angle_tape = np.empty((most, 64))
        most = 0
        for lane in range(count):
            angle_top_1[lane] = 0
            steps = int(steps_1[lane])
            trips[lane] = steps
            if steps > most:
                most = steps
        for trip in range(most):
            for lane in range(count):
                if trip < trips[lane]:
                    speed_1[lane] -= 0.1 * np.sin(angle_1[lane])
                    angle_tape[angle_top_1[lane], lane] = angle_1[lane]
                    angle_top_1[lane] += 1
                    angle_1[lane] += 0.1 * speed_1[lane]
        most = 0
        for lane in range(count):
            angle_bar[lane] = 1.0
            speed_bar[lane] = 0.0
            steps = int(steps_1[lane])
            trips_1[lane] = steps
            if steps > most:
                most = steps
        for trip_1 in reversed(range(most)):
            for lane in range(count):
                if trip_1 < trips_1[lane]:
                    speed_bar[lane] += 0.1 * angle_bar[lane]
                    angle_top = angle_top_1[lane] - 1
                    angle_top_1[lane] = angle_top
                    angle_1[lane] = angle_tape[angle_top, lane]
                    angle_bar[lane] -= 0.1 * speed_bar[lane] * np.cos(angle_1[lane])
        for lane in range(count):
            angle_bar_batch[first + lane] += angle_bar[lane]
    return angle_bar_batch
