"""Known shares of time in C: see known.c, which must be built beside this."""
import support

import known


def spend(seconds):
    known.spend(seconds)


def main():
    work = support.begin(support.parser(__doc__).parse_args())
    while work.goes_on():
        spend(0.02)


if __name__ == "__main__":
    main()
