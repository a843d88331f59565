"""Corrupt the lists that a profiler follows, as the argument says, then sleep.

What was corrupted is never used again: it is asleep until it is killed."""
import ctypes
import sys
import time

WILD = 0x4141414141414140
WORD = 8


def read(address):
    return ctypes.c_uint64.from_address(address).value


def write(address, value):
    ctypes.c_uint64.from_address(address).value = value


def call(name):
    function = getattr(ctypes.pythonapi, name)
    function.restype = ctypes.c_void_p
    return function()


def own_frame():
    """The frame of our caller, where it keeps the one before, and where that
    one keeps its code."""
    frame = id(sys._getframe(1))
    if sys.version_info < (3, 11):
        return frame, frame + 3 * WORD, read(frame + 3 * WORD) + 4 * WORD
    frame = read(frame + 3 * WORD)
    return frame, frame + WORD, read(frame + WORD)


def interpreter():
    """The interpreter, and where it keeps the next one."""
    if sys.version_info < (3, 9):
        address = call("PyInterpreterState_Head")
    else:
        address = call("PyInterpreterState_Get")
    if sys.version_info < (3, 13):
        return address, address
    runtime = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    return address, address + read(runtime + 8 * WORD)


def victim():
    frame, previous, code = own_frame()
    thread = call("PyThreadState_Get")
    here, following = interpreter()
    name = id(victim.__code__.co_name)
    writes = {
        "nothing": (previous, read(previous)),
        "frames in a ring": (previous, frame),
        "frames astray": (previous, WILD),
        "frames at an odd address": (previous, frame + 3),
        "threads in a ring": (thread + WORD, thread),
        "threads astray": (thread + WORD, WILD),
        "interpreters in a ring": (following, here),
        "interpreters astray": (following, WILD),
        "no code": (code, id("text")),
        "code astray": (code, WILD),
        "a long name": (name + 2 * WORD, 1 << 60),
    }
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    write(*writes[sys.argv[1]])
    time.sleep(60)


victim()
