"""Functions shared by the scripts that run a command together with servers."""
import ctypes
import fcntl
import importlib.util
import os
import shutil
import signal
import subprocess
import sys

STOP_SECONDS = 5


def install(requirements, build):
    """Creates a virtual environment with the requirements in the folder, unless it is up to date; returns its path."""
    build.mkdir(exist_ok=True)
    venv = build / "venv"
    stamp = venv / "installed.txt"
    wanted = f"{sys.version}\n{requirements.read_text()}"
    with open(build / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == wanted:
            return venv
        if importlib.util.find_spec("ensurepip") is None:
            sys.exit("beside: Python's module venv is missing; on Debian, run: apt-get install python3-venv")
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [venv / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "--requirement", requirements], check=True)
        stamp.write_text(wanted)
        return venv


def end_with_parent():
    """Makes a server exit even if the script that started it is killed; has an effect only on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def exit_on_signals():
    """Exits on SIGTERM and SIGHUP, so that `finally` blocks stop the servers."""
    for kind in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(kind, lambda number, _: sys.exit(128 + number))


def stop(process):
    """Stops a process that leads a group, and all processes of the group."""
    for kind in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, kind)
            process.wait(STOP_SECONDS)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def run(command, variables, within=()):
    """Runs the command, forwards signals to it, and returns its exit code as a shell does.

    `within` is a command that runs another command in an isolated environment, such as unshare.
    """
    try:
        process = subprocess.Popen([*within, *command], env={**os.environ, **variables})
    except OSError as error:
        print(f"cannot run {command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    for kind in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(kind, lambda number, _: process.send_signal(number))
    code = process.wait()
    return code if code >= 0 else 128 - code
