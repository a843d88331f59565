"""--threads threads: all but one asleep, or with --busy all of them at work.

With --busy all but one of them wait for the GIL at any moment.
"""
import threading

import support


def sleep(forever, depth):
    if depth > 0:
        sleep(forever, depth - 1)
    else:
        forever.wait()


def spin(work, depth):
    if depth > 0:
        spin(work, depth - 1)
        return
    total = 0
    while work.goes_on():
        for i in range(2000):
            total += i


def labour(start, work, depth):
    start.wait()
    spin(work, depth)


def launch(function, *args):
    thread = threading.Thread(target=function, args=args)
    thread.daemon = True
    thread.start()


def main():
    p = support.parser(__doc__)
    p.add_argument("--threads", type=int, default=50)
    p.add_argument("--depth", type=int, default=10)
    p.add_argument("--busy", action="store_true")
    args = p.parse_args()
    event = threading.Event()
    work = support.Work(args.seconds, args.progress)
    for _ in range(args.threads - 1):
        if args.busy:
            launch(labour, event, work, args.depth)
        else:
            launch(sleep, event, args.depth)
    support.ready()
    if args.busy:
        event.set()
    spin(work, args.depth)


if __name__ == "__main__":
    main()
