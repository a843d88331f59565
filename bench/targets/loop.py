"""CPU-bound: one function, arithmetic in a loop."""
import support

CALLERS = {
    "main": ("<module>",),
    "crunch": ("main",),
    "goes_on": ("main",),
}


def crunch(count):
    x = 1
    for i in range(count):
        x = (x * 1103515245 + i) & 0x7FFFFFFF
    return x


def main():
    work = support.begin(support.parser(__doc__).parse_args())
    while work.goes_on():
        crunch(1000)


if __name__ == "__main__":
    main()
