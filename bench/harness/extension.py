"""Extensions for the native targets, built for one Python at a time.

known.c wants a compiler and that Python's headers. Cython and numpy come from
PyPI, into the cache folder, once for each version; what cannot be had is
named. Where a Python runs in another root, the host's compiler builds for it,
and the packages are put where it sees them."""
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

from . import machine

FLAGS = ["-shared", "-fPIC", "-O2", "-g", "-fomit-frame-pointer", "-w"]
CYTHONS = ["cython", "cython<3.1"]  # the newest leaves old Pythons out
ASK_INCLUDE = "import sysconfig; print(sysconfig.get_paths()['include'])"


class Missing(RuntimeError):
    """Why an extension cannot be had here."""


class Host(NamedTuple):
    """The Python for which is built, and the folder of the targets."""
    python: object   # .version, .root, .command()
    folder: str      # as the host sees it


def call(command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, **options)
    if done.returncode:
        lines = done.stdout.strip().splitlines() or ["no word"]
        raise Missing("%s failed: %s" % (os.path.basename(str(command[0])), lines[-1]))
    return done.stdout


def headers(python):
    inside = call(python.command("-c", ASK_INCLUDE)).strip().splitlines()[-1]
    path = python.root + inside
    if not os.path.exists(os.path.join(path, "Python.h")):
        raise Missing("Python %s has no headers here" % python.version)
    return path


def place(host):
    """Where the extensions of one Python go: a folder for its module path."""
    path = os.path.join(host.folder, "native-" + host.python.version)
    os.makedirs(path, exist_ok=True)
    return path


def compile_into(host, source, name):
    output = os.path.join(place(host), name + ".so")
    include = headers(host.python)
    command = ["cc", *FLAGS, "-I", include]
    if host.python.root:  # pyconfig.h of some distributions lies beside
        command += ["-idirafter", host.python.root + "/usr/include"]
    call([*command, source, "-o", output, "-lpthread"])


def need_known(host):
    compile_into(host, os.path.join(host.folder, "known.c"), "known")


def pip_install(folder, *words):
    """A package from PyPI in a folder of the cache; its own Python is this one's."""
    if not os.path.isdir(folder):
        fresh = folder + ".new"
        shutil.rmtree(fresh, ignore_errors=True)
        venv = os.path.join(machine.cache(), "venv", "bin", "python")
        call([venv if os.access(venv, os.X_OK) else sys.executable, "-m", "pip", "install", "-q",
              "--disable-pip-version-check", "--target", fresh, *words])
        os.rename(fresh, folder)
    return folder


def cached(name):
    above = os.path.join(machine.cache(), "native")
    os.makedirs(above, exist_ok=True)
    return os.path.join(above, name)


def need_cython(host):
    source = os.path.join(host.folder, "known_cython.pyx")
    for i, wanted in enumerate(CYTHONS):
        home = pip_install(cached("cython-%d" % i), wanted)
        output = os.path.join(place(host), "known_cython.c")
        try:
            call([sys.executable, "-m", "cython", "-o", output, source],
                 env=dict(os.environ, PYTHONPATH=home))
            return compile_into(host, output, "known_cython")
        except Missing as error:
            failure = error
    raise failure


def abi(version):
    """As wheels name it."""
    number = tuple(map(int, version.rstrip("t").split(".")))
    suffix = {(2, 7): "mu", (3, 6): "m", (3, 7): "m"}.get(number, "")
    return "cp%d%d%s" % (*number, "t" if version.endswith("t") else suffix)


def need_numpy(host):
    """A wheel for that version; the newest of Python may have none yet."""
    version = host.python.version
    if version.endswith("d"):
        raise Missing("no wheel of numpy for Python %s" % version)
    home = pip_install(cached("numpy-" + version), "--only-binary=:all:", "--python-version",
                       version.rstrip("t"), "--implementation", "cp", "--abi", abi(version),
                       "--ignore-requires-python", "numpy")
    shutil.copytree(home, place(host), dirs_exist_ok=True)


NEEDS = {"native_shares": need_known, "native_callback": need_known,
         "native_threads": need_known, "native_idle": need_known,
         "native_cython": need_cython, "native_numpy": need_numpy}


def provide(python, folder, target):
    """Make what a target needs; the folder to add to its module path, as that
    Python sees it, or "". Raises Missing."""
    host = Host(python, str(folder))
    need = NEEDS.get(target)
    if not need:
        return ""
    done = os.path.join(place(host), "." + need.__name__)
    if not os.path.exists(done):
        need(host)
        open(done, "w").close()
    return place(host)[len(python.root):]
