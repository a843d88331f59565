"""The parts of bench/run; docs/benchmarks.md says what is measured and how."""
