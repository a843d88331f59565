"""For the seconds it is told: generators at work and short sleeps, in turns."""
import random
import sys
import time


def numbers(count):
    for i in range(count):
        yield i


def evens(source):
    for i in source:
        if not i & 1:
            yield i


def nap():
    time.sleep(random.uniform(0.001, 0.006))


def work():
    sum(evens(numbers(random.randrange(20000, 60000))))


def main(seconds):
    until = time.time() + seconds
    while time.time() < until:
        work()
        nap()


print("ready")
sys.stdout.flush()
main(float(sys.argv[1]))
