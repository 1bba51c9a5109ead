"""Eukhe: a coding agent whose memory is one chat that never ends."""

__version__ = "0.1.0"
