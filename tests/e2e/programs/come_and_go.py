"""Threads that live for some milliseconds each: even ones do even work, odd ones
odd work."""
import sys
import threading
import time

clock = getattr(time, "monotonic", time.time)


def even_work(until):
    while clock() < until:
        pass


def odd_work(until):
    while clock() < until:
        pass


def even(until):
    even_work(until)


def odd(until):
    odd_work(until)


def main():
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    end = clock() + float(sys.argv[1])
    while clock() < end:
        until = clock() + 0.02
        threads = [threading.Thread(target=function, args=(until,))
                   for function in (even, odd, even)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


main()
