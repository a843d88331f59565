"""A recursion of --depth calls, then a loop at its end that calls nothing."""
import support

CALLERS = {
    "main": ("<module>",),
    "descend": ("main", "descend"),
    "spin": ("descend",),
    "goes_on": ("spin",),
}


def spin(work):
    total = 0
    while work.goes_on():
        for i in range(2000):
            total += i
    return total


def descend(calls, work):
    if calls > 0:
        return descend(calls - 1, work)
    return spin(work)


def main():
    p = support.parser(__doc__)
    p.add_argument("--depth", type=int, default=20, help="frames in all, at least 4")
    args = p.parse_args()
    work = support.begin(args)
    descend(args.depth - 4, work)


if __name__ == "__main__":
    main()
