"""Asyncio tasks that await each other and drain chained generators."""
import asyncio

import support

CALLERS = {
    "main": ("<module>",),
    "run_until_complete": ("main",),
    "everything": ("main", "_run"),
    "gather": ("everything",),
    "worker": ("everything", "_run"),
    "middle": ("worker",),
    "inner": ("middle",),
    "sleep": ("inner",),
    "__sleep0": ("sleep",),
    "total": ("inner",),
    "evens": ("total",),
    "squares": ("total", "evens"),
    "numbers": ("total", "squares"),
    "goes_on": ("worker",),
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


def total(count):
    return sum(evens(squares(numbers(count))))


async def inner(count):
    await asyncio.sleep(0)
    return total(count)


async def middle(count):
    return await inner(count)


async def worker(work):
    while work.goes_on():
        await middle(50)


async def everything(work, tasks):
    workers = []
    for _ in range(tasks):
        workers.append(worker(work))
    await asyncio.gather(*workers)


def main():
    p = support.parser(__doc__)
    p.add_argument("--tasks", type=int, default=10)
    args = p.parse_args()
    work = support.begin(args)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(everything(work, args.tasks))


if __name__ == "__main__":
    main()
