import numpy as np


def explained_jvp(X, X_dot):
    centred = X - np.mean(X, axis=0)
    centred_dot = X_dot - np.sum(X_dot, axis=0) / len(X)
    matmul_dot = centred_dot.T @ centred + centred.T @ centred_dot
    eigh = np.linalg.eigh(centred.T @ centred)
    w = eigh[0]
    v = eigh[1]
    turned_dot = v.T @ (0.5 * (matmul_dot + matmul_dot.T)) @ v
    gaps = w - w[:, None]
    values = eigh[0]
    vectors = eigh[1]
    vectors_part = vectors[:, -1]
    along = centred @ vectors_part
    vectors_part_dot = (v @ (turned_dot / np.where(gaps == 0, np.inf, gaps)))[:, -1]
    along_dot = centred_dot @ vectors_part + centred @ vectors_part_dot
    total = np.sum(values)
    total_dot = np.sum(np.sum(turned_dot * np.eye(X.shape[1]), axis=-1).real)
    quotient = (along_dot @ along + along @ along_dot) / total
    return along @ along / total, quotient - along @ along / total / total * total_dot
