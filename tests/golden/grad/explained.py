import numpy as np


def explained_grad(X):
    # forward sweep
    centred = X - np.mean(X, axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    vectors_part = vectors[:, -1]
    along = centred @ vectors_part
    total = np.sum(values)
    # reverse sweep
    # programs.py  along = centred @ vectors[:, -1]
    along_bar = 2.0 * (along / total)
    vectors_bar = np.zeros_like(vectors)
    vectors_bar[:, -1] += centred.T @ along_bar
    # programs.py  values, vectors = np.linalg.eigh(centred.T @ centred)
    gaps = values - values[:, None]
    w_bar_part = np.full_like(values, -(along @ along / total / total))[:, None]
    of_vectors = vectors.T @ vectors_bar / np.where(gaps == 0, np.inf, gaps)
    matmul = vectors @ (of_vectors + w_bar_part * np.eye(X.shape[1]))
    matmul_bar = 0.5 * (matmul @ vectors.T + vectors @ matmul.T)
    # programs.py  centred = X - X.mean(axis=0)
    centred_bar = np.outer(along_bar, vectors_part) + centred @ matmul_bar
    centred_bar = centred_bar + centred @ matmul_bar.T
    return centred_bar - np.sum(centred_bar, axis=0) / len(X)
