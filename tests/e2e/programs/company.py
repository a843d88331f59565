"""Work alone, then beside others of one's kind that wait, until they end:
company.py SECONDS OTHERS."""
import subprocess
import sys
import time

WAIT = "import sys; print(1); sys.stdout.flush(); sys.stdin.read()"


def work(until):
    while until is None or time.time() < until:
        sum(range(1000))


def begin():
    other = subprocess.Popen([sys.executable, "-c", WAIT], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
    other.stdout.read(1)
    return other


def say(text):
    print(text)
    sys.stdout.flush()


def main(seconds, others):
    say("ready")
    work(time.time() + seconds)
    company = [begin() for _ in range(others)]
    say("all are here")
    work(None)
    return company


main(float(sys.argv[1]), int(sys.argv[2]))
