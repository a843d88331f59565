"""Threads that wait in C (read, poll, futex), and one that C made and that
never runs Python, at work."""
import os
import threading
import time

import support

import known


def launch(name, function, *args):
    thread = threading.Thread(target=function, name=name, args=args)
    thread.daemon = True
    thread.start()


def wait_for(function, *args):
    function(*args)


def main():
    args = support.parser(__doc__).parse_args()
    end, _ = os.pipe()
    launch("reads", wait_for, known.wait_read, end)
    launch("polls", wait_for, known.wait_poll, end)
    launch("sleeps", wait_for, known.wait_futex)
    known.start_burner()
    time.sleep(0.1)
    support.ready()
    time.sleep(args.seconds)


if __name__ == "__main__":
    main()
