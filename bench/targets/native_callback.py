"""Python that C calls that Python calls: --depth times, as a binding library
does it; the work is done in C at the innermost call."""
import support

import known

CALLERS = {"main": ("<module>",), "outer": ("main",), "inner": ("outer", "inner")}


def inner(depth):
    if depth > 0:
        known.call(inner, depth - 1)
    else:
        known.burn(0.0001)


def outer(depth):
    known.call(inner, depth)


def main():
    p = support.parser(__doc__)
    p.add_argument("--depth", type=int, default=5)
    args = p.parse_args()
    work = support.begin(args)
    while work.goes_on():
        outer(args.depth)


if __name__ == "__main__":
    main()
