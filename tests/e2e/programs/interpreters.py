"""One interpreter in the main thread, others in threads of their own."""
import os
import sys
import threading
import time

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

SOURCE = """
import os, time

def sub_work_%d(until):
    while time.monotonic() < until:
        pass

def sub_main():
    os.write(%d, b"x")
    sub_work_%d(time.monotonic() + 2)

sub_main()
"""


def run(number, begun):
    source = SOURCE % (number, begun, number)
    failure = interpreters.run_string(interpreters.create(), source)
    assert failure is None, failure  # some versions raise instead


def main_work(until):
    while time.monotonic() < until:
        pass


told, begun = os.pipe()
threads = [threading.Thread(target=run, args=(number, begun)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    os.read(told, 1)
sys.stdout.write("ready\n")
sys.stdout.flush()
main_work(time.monotonic() + 2)
for thread in threads:
    thread.join()
