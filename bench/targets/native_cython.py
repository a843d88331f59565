"""Loops and calls back into Python in Cython: see known_cython.pyx, which must
be built beside this."""
import support

import known_cython


def called(n):
    return worker.burn(0.0001) + n


worker = known_cython.Worker()


def main():
    work = support.begin(support.parser(__doc__).parse_args())
    while work.goes_on():
        worker.burn(0.0002)
        worker.call(called, 3)


if __name__ == "__main__":
    main()
