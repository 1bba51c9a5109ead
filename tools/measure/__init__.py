"""What tools/bench.py measures, a file a measurement.

Each file has a `measure` that gives its figures. Each figure stands beside another of the same run, so that a slow or
busy machine is seen for what it is.
"""
