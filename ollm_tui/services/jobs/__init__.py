"""Shells and jobs: running code in processes that are tracked, bounded and never left behind."""
