"""Lycosa, a focused web crawler: say what to look for and where to start."""

__version__ = "0.1.0"
