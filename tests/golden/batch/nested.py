import numpy as np


def rows_batched_batched(table_batch, v_batch):
    values_1 = np.zeros((len(table_batch), len(v_batch), table_batch.shape[1]))
    for j, table in enumerate(table_batch):
        values = np.zeros((len(v_batch), table_batch.shape[1]))
        for i, v in enumerate(v_batch):
            values[i] = table @ v
        values_1[j] = values
    return values_1
