"""Say each signal that arrives, and exit with its number a moment after the
first; with an argument, die of that signal instead."""
import os
import signal
import sys
import time

received = []


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def on_signal(number, frame):
    say("signal %d" % number)
    received.append(number)


def die(number):
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(number, on_signal)
say("ready")
time.sleep(0.1)
if len(sys.argv) > 1:
    die(int(sys.argv[1]))
until = time.time() + 60
while not received and time.time() < until:
    time.sleep(0.01)
time.sleep(0.1)  # for another one
sys.exit(received[0])
