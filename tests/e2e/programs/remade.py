"""Makes a function, lets it work for a tenth of a second, and forgets it: the
next has its address. Odd ones sort, even ones count."""
import sys
import time

SOURCE = """
def work_%d():
    until = now() + 0.1
    while now() < until:
        %s
"""
NUMBERS, TEXT = list(range(20000, 0, -1)), "x" * 200000


def make(n):
    space = {"now": time.time, "numbers": NUMBERS, "text": TEXT}
    exec(SOURCE % (n, "sorted(numbers)" if n % 2 else "text.count('yz')"), space)
    return space["work_%d" % n]


print("ready")
sys.stdout.flush()
until, n = time.time() + float(sys.argv[1]), 0
while time.time() < until:
    n += 1
    function = make(n)
    function()
    function.__globals__.clear()
    del function
