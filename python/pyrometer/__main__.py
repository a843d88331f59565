"""python -m pyrometer: become the command that was installed with this package."""

import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError, files


def command():
    """The path of the command, wherever the installer's scheme put it."""
    try:
        installed = files("pyrometer") or ()
    except PackageNotFoundError:
        installed = ()
    for file in installed:
        if file.name == "pyrometer" and file.parent.name == "bin":
            return os.path.realpath(file.locate())
    return shutil.which("pyrometer")


def main():
    path = command()
    if path is None:
        sys.exit("pyrometer: the command is neither beside this package nor on PATH; install the wheel again")
    os.execv(path, ["pyrometer", *sys.argv[1:]])


if __name__ == "__main__":
    main()
