"""Chained generators: frames outside of the data stack, switched all the time.

A generator function appears once below whoever calls it to make the generator,
and then below whoever resumes it: both pairs are real.
"""
import support

CALLERS = {
    "main": ("<module>",),
    "total": ("main",),
    "shifted": ("total",),
    "evens": ("total", "shifted"),
    "squares": ("total", "evens"),
    "numbers": ("total", "squares"),
    "goes_on": ("main",),
}


def numbers(count):
    for i in range(count):
        yield i


def squares(source):
    for x in source:
        yield x * x


def evens(source):
    for x in source:
        if not x & 1:
            yield x


def shifted(source):
    for x in source:
        yield x >> 1


def total(count):
    return sum(shifted(evens(squares(numbers(count)))))


def main():
    work = support.begin(support.parser(__doc__).parse_args())
    while work.goes_on():
        total(400)


if __name__ == "__main__":
    main()
