"""A thread that works and ends, then main() that works and ends the process:
each has a last function of a tenth of a second."""
import os
import sys
import threading
import time


def spin(seconds):
    until = time.time() + seconds
    while time.time() < until:
        sum(range(1000))


def thread_ends():
    spin(0.1)


def process_ends():
    spin(0.1)


def work(end):
    spin(0.6)
    end()


def main():
    thread = threading.Thread(target=work, args=(thread_ends,))
    thread.start()
    thread.join()
    work(process_ends)


print("ready")
sys.stdout.flush()
main()
os._exit(0)
