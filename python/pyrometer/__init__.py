"""Pyrometer, a sampling profiler for Python programs.

The work is done by the command `pyrometer`, which this package brings along;
`python -m pyrometer` runs it where the command's folder is not on PATH.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("pyrometer")
except PackageNotFoundError:  # run from the source tree, or installed without pip
    __version__ = "unknown"
