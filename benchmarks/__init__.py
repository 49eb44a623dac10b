"""What things cost beside the least they could cost, measured in the same run: `python -m benchmarks`."""

__all__: list[str] = []
