"""Benchmarks: one module a promise, each printing ratios against a named reference."""
