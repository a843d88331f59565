"""--threads threads that multiply, sort and transform arrays with numpy, and none
of numpy's own: those wait by spinning, which on a busy machine is all one would
measure."""
import os
import threading

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy  # noqa: E402
import support  # noqa: E402


def multiply(a, b):
    return numpy.dot(a, b)


def order(a):
    return numpy.sort(a, axis=None)


def transform(a):
    return numpy.exp(numpy.sin(a)).sum()


def labour(work, seed):
    rng = numpy.random.RandomState(seed)
    a, b = rng.rand(120, 120), rng.rand(120, 120)
    while work.goes_on():
        multiply(a, b)
        order(a)
        transform(b)


def main():
    p = support.parser(__doc__)
    p.add_argument("--threads", type=int, default=2)
    args = p.parse_args()
    work = support.begin(args)
    others = [threading.Thread(target=labour, args=(work.of_thread(i), i))
              for i in range(1, args.threads)]
    for thread in others:
        thread.daemon = True
        thread.start()
    labour(work, 0)


if __name__ == "__main__":
    main()
