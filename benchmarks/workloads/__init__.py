"""Programs that the benchmarks run."""
