"""Makes modules, one after the other, as an import does, runs each, and forgets
it: the code objects of one take the places of those of the one before. The
function f_N of the file made_N calls g_N, for about a millisecond."""
import sys
import time

SOURCE = """
def g_%d():
    x = 0
    for i in range(20000):
        x += i
    return x


def f_%d():
    return g_%d()


f_%d()
"""


def main(seconds):
    until = time.time() + seconds
    number = 0
    while time.time() < until:
        number += 1
        exec(compile(SOURCE % ((number,) * 4), "made_%d" % number, "exec"), {})


print("ready")
sys.stdout.flush()
main(float(sys.argv[1]))
