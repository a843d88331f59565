"""--threads threads, all but one asleep in C; that one works in C and Python."""
import threading

import support

import known


def sleep():
    known.wait_futex()


def labour():
    known.burn(0.0001)
    return sum(range(1000))


def main():
    p = support.parser(__doc__)
    p.add_argument("--threads", type=int, default=150)
    args = p.parse_args()
    for _ in range(args.threads - 1):
        thread = threading.Thread(target=sleep)
        thread.daemon = True
        thread.start()
    work = support.begin(args)
    while work.goes_on():
        labour()


if __name__ == "__main__":
    main()
