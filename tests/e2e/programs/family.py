"""Start children in one way or another; each is busy for some CPU time, in a
function of its own."""
import os
import subprocess
import sys
import time

clock = time.process_time if hasattr(time, "process_time") else time.clock
SECONDS = 0.3


def busy_child(seconds=SECONDS):
    until = clock() + seconds
    while clock() < until:
        pass


def busy_parent(seconds=SECONDS):
    until = clock() + seconds
    while clock() < until:
        pass


def fork():
    child = os.fork()
    if not child:
        busy_child()
        os._exit(0)
    busy_parent()
    os.waitpid(child, 0)


def daemon():
    """a child that outlives its parent, four times as busy"""
    if os.fork():
        busy_parent()
    else:
        os.closerange(0, 3)
        busy_child(4 * SECONDS)


def grandchild():
    child = os.fork()
    if not child:
        fork()
        os._exit(0)
    os.waitpid(child, 0)


def start():
    """subprocess, with the same program as its child"""
    child = subprocess.Popen([sys.executable, sys.argv[0], "child"])
    busy_parent()
    child.wait()


def shell():
    """a program in between that is no Python"""
    command = '"%s" "%s" child; exit 0' % (sys.executable, sys.argv[0])
    child = subprocess.Popen(["/bin/sh", "-c", command])
    busy_parent()
    child.wait()


def execute():
    """fork, then exec in the child"""
    child = os.fork()
    if not child:
        os.execv(sys.executable, [sys.executable, sys.argv[0], "child"])
    busy_parent()
    os.waitpid(child, 0)


def multiprocess(method):
    import multiprocessing
    if hasattr(multiprocessing, "get_context"):
        multiprocessing = multiprocessing.get_context(method)
    child = multiprocessing.Process(target=busy_child)
    child.start()
    busy_parent()
    child.join()


def pool():
    import multiprocessing
    workers = multiprocessing.Pool(3)
    result = workers.map_async(busy_child, [SECONDS] * 3, 1)
    busy_parent()
    result.get(60)
    workers.close()
    workers.join()


WAYS = {
    "fork": fork, "grandchild": grandchild, "start": start, "shell": shell, "execute": execute,
    "multiprocessing fork": lambda: multiprocess("fork"),
    "multiprocessing spawn": lambda: multiprocess("spawn"),
    "multiprocessing forkserver": lambda: multiprocess("forkserver"),
    "pool": pool, "daemon": daemon, "child": busy_child,
}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
