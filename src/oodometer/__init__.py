"""An odometer for out-of-distribution robustness."""

__version__ = "0.1.0"
