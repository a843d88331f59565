"""Recursive Fibonacci: calls and returns, and next to nothing else."""
import support

CALLERS = {
    "main": ("<module>",),
    "fib": ("main", "fib"),
    "goes_on": ("main",),
}


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def main():
    work = support.begin(support.parser(__doc__).parse_args())
    while work.goes_on():
        fib(12)


if __name__ == "__main__":
    main()
