"""Two threads that work, one of which soon falls asleep for good."""
import sys
import threading
import time


def spin(seconds):
    until = time.time() + seconds
    while time.time() < until:
        sum(range(1000))


def settles():
    spin(0.5)
    time.sleep(1000)


thread = threading.Thread(target=settles, name="settles")
thread.daemon = True
thread.start()
print("ready")
sys.stdout.flush()
spin(float(sys.argv[1]))
