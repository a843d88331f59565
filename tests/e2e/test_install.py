"""make install and pip install: both put a working pyrometer where it belongs."""
import os
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest

from interpreters import BUILD, ROOT

PATIENCE = 300


def run(*command, **options):
    options = {"capture_output": True, "text": True, "timeout": PATIENCE, **options}
    return subprocess.run([str(word) for word in command], **options)


def check(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def check_version(done):
    assert check(done).stdout.startswith("pyrometer ")


def test_meson_install(tmp_path):
    """What `make install` does, with a build that is there already."""
    check(run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", tmp_path))
    installed = {path.name: path for path in tmp_path.rglob("*") if path.is_file()}
    assert "pyrometer.1" in installed
    assert installed["pyrometer.1"].parent.name == "man1"
    assert list(tmp_path.rglob("bash-completion/completions/pyrometer"))
    (program,) = tmp_path.rglob("bin/pyrometer")
    check_version(run(program, "--version"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built by the meson-python that tools/setup brought."""
    if BUILD.name != "build":
        pytest.skip("the wheel is the same for every build")
    if run(sys.executable, "-c", "import mesonpy").returncode:
        pytest.skip("pip: no meson-python here, and no network to get it")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(
        "build", "build-*", ".git", "demo", "node_modules", "__pycache__"))
    check(run("nice", sys.executable, "-m", "pip", "wheel", "-q", "--no-deps",
              "--no-build-isolation", "-w", folder, source))
    (built,) = folder.glob("*.whl")
    return built


def test_one_wheel_for_all_pythons(wheel):
    machine = os.uname().machine
    assert wheel.name.split("-")[2:] == ["py3", "none", f"linux_{machine}.whl"]


def test_wheel_holds_the_readme(wheel):
    with zipfile.ZipFile(wheel) as files:
        (metadata,) = [name for name in files.namelist() if name.endswith("METADATA")]
        assert "# Pyrometer" in files.read(metadata).decode()


def test_pip_install(wheel, tmp_path):
    venv.create(tmp_path, with_pip=True)
    python = tmp_path / "bin" / "python"
    check(run(python, "-m", "pip", "install", "-q", "--no-index", wheel))
    check_version(run(python, "-m", "pyrometer", "--version"))
    program, recording = tmp_path / "bin" / "pyrometer", tmp_path / "sum.pyro"
    check_version(run(program, "--version"))
    check(run(program, "run", "-q", "-o", recording, "-c", "sum(range(10**7))"))
    check(run(program, "report", recording))
