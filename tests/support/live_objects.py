"""A Python program, for every version from 2.7 on, that tells about its own
objects what a reader from outside should find. It is given to interpreters by
-c, because those in another root cannot open this file.

    live_objects.py codes|frames|sleep|values

The first line of its output says how to read it, each line after that is JSON;
it goes on when a line comes in. Between the two lines nothing moves."""
import binascii
import ctypes
import json
import os
import struct
import sys
import threading
import time

FILES = ["argparse.py", "inspect.py", "typing.py", "_pydecimal.py", "decimal.py",
         "difflib.py", "tarfile.py", "asyncio/base_events.py", "shutil.py"]
HEAD = object.__basicsize__
address_to_line = ctypes.pythonapi.PyCode_Addr2Line
address_to_line.argtypes = [ctypes.py_object, ctypes.c_int]
libc = ctypes.PyDLL(None)  # its functions keep the GIL: nobody else runs


def say(thing):
    data = (json.dumps(thing) + "\n").encode()
    while data:
        data = data[libc.write(1, data, len(data)):]


def introduce():
    try:
        runtime = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    except ValueError:
        runtime = 0
    say({"pid": os.getpid(), "version": sys.hexversion, "runtime": runtime})


# --- code objects ---

def walk(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            for inner in walk(constant):
                yield inner


def describe(code):
    width = 1 if sys.version_info[0] == 2 else 2
    units = len(code.co_code) // width
    lines = [max(address_to_line(code, i * width), 0) for i in range(units)]
    packed = struct.pack("<%dI" % units, *lines)
    return {"address": id(code), "first": code.co_firstlineno, "units": units,
            "name": getattr(code, "co_qualname", code.co_name),
            "file": code.co_filename, "crc": binascii.crc32(packed) & 0xffffffff}


def codes():
    folder = os.path.dirname(os.__file__)
    kept = []
    for name in FILES:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                kept.append(compile(file.read(), path, "exec"))
    kept.append(compile("x = 1\n" * 3 + "\n" * 700 + "y = [\n  z for z in [x,\n x]\n]",
                        b"na\xc3\xafve \xe6\x96\x87.py".decode("utf-8")
                        if sys.version_info[0] > 2 else "naive.py", "exec"))
    for top in kept:
        for code in walk(top):
            say(describe(code))
    say(None)
    os.read(0, 1)


# --- frames ---

class Work(object):
    stop = False

    def helper(self, n):
        return [x for x in range(n % 5)]

    def generate(self, n):
        for i in range(n):
            yield self.helper(i)

    def spin(self, count):
        while not self.stop:
            for item in self.generate(
                    10):
                count += len(
                    item) + max(
                        count, 1) // 7
            count = (lambda: count %
                     1000)()
        return count


def outer(first, second=2, *rest, **named):
    before = [first, second]
    unbound = "gone"
    del unbound

    def inner(count):
        seen = {"first": first, "count": count}
        if named["sleep"]:
            time.sleep(
                1000)
        return Work().spin(
            count) + len(seen)

    return (before,
            inner(second + 1),
            first)[1]


def frame_address(frame):
    if sys.version_info < (3, 11):
        return id(frame)
    return ctypes.c_uint64.from_address(id(frame) + HEAD + 8).value


def stack_of(ident):
    frame, stack = sys._current_frames()[ident], []
    while frame is not None:
        code = frame.f_code
        stack.append({"frame": frame_address(frame), "line": frame.f_lineno or 0,
                      "name": getattr(code, "co_qualname", code.co_name),
                      "lasti": frame.f_lasti})
        frame = frame.f_back
    return stack


def await_sleep(ident):
    """Return when the thread has not moved from inner() for a while."""
    before = None
    while True:
        time.sleep(0.05)
        stack = stack_of(ident)
        if stack == before and stack[0]["name"].endswith("inner"):
            return
        before = stack


def watch(ident, rounds):
    byte = ctypes.create_string_buffer(1)
    if rounds == 1:
        await_sleep(ident)
    for _ in range(rounds):
        time.sleep(0.003)
        before = stack_of(ident)
        say(before)
        libc.read(0, byte, 1)
        say(stack_of(ident) == before)
    os._exit(0)


def frames(sleep, rounds):
    if hasattr(sys, "setswitchinterval"):
        sys.setswitchinterval(0.02)
    ident = threading.current_thread().ident
    watcher = threading.Thread(target=watch, args=(ident, rounds))
    watcher.daemon = True
    watcher.start()
    outer(1, 2, "rest", sleep=sleep)


# --- values ---

class Plain(object):
    def __init__(self):
        self.one = 1
        self.two = "zwei"


class MyInt(int):
    pass


class MyList(list):
    pass


class MyStr(type(u"")):
    pass


def values():
    u = "u" if sys.version_info[0] == 2 else ""
    deleted = dict((i, i) for i in range(6))
    del deleted[2]
    cycle = [1]
    cycle.append(cycle)
    plain = Plain()
    big = dict((i, None) for i in range(100000))
    same = [None, True, False, 0, 1, -1, 255, 2 ** 29, 2 ** 30, 2 ** 31, -2 ** 62,
            2 ** 63, 2 ** 64 - 1, 2 ** 200, -3 ** 300, 10 ** 27,
            0.0, -0.0, 1.5, 0.1, 1e15, 1e16, 1e22, 1e-5, 1e-4, 123456.789, 5e-324,
            1.7976931348623157e308, float("inf"), float("-inf"), 2.0 / 3,
            "", "a", "it's", '"', '\'"', "tab\tnew\nback\\slash\x00\x1f\x7f",
            b"", b"bytes\x00\xff'", u"caf\xe9" if sys.version_info[0] > 2 else "c",
            [], [1], [1, 2, [3]], (), (1,), (1, "b", (None,)), {}, {"a": 1},
            {1: "a"}, {(1, 2): [3]}, deleted, plain.__dict__,
            {"x": {"y": {"z": 1}}}]
    told = [(repr(value), value) for value in same]
    told += [
        (u + "'\\udc80'", u"\udc80") if u == "" else ("None", None),
        (u"'\u6587\U0001f600'", u"\u6587\U0001f600") if u == "" else ("None", None),
        ("'\\u202e'", u"\u202e") if u == "" else ("u'\\u202e'", u"\u202e"),
        ("MyInt(7)", MyInt(7)), ("MyList([1])", MyList([1])),
        ("MyStr(%s'x')" % u, MyStr(u"x")),
        ("set()", set()), ("{1}", set([1])), ("frozenset()", frozenset()),
        ("frozenset({1})", frozenset([1])),
        ("ValueError('x', 1)", ValueError("x", 1)), ("KeyError()", KeyError()),
        ("<class 'Plain'>", Plain), ("<class 'int'>", int),
        ("[1, ...]", cycle), ("complex(1.0, -2.0)", 1 - 2j),
        ("<Plain at 0x%x>" % id(plain), plain),
        ("Ellipsis", Ellipsis),
    ]
    if sys.version_info[0] > 2:
        told += [("range(0, 3)", range(3)), ("range(1, 9, 2)", range(1, 9, 2))]
    if sys.version_info >= (3, 15):
        told += [("frozendict({1: 2})", frozendict({1: 2}))]  # noqa: F821
    cut = [("<int of about", 10 ** 5000), ("<negative int", -10 ** 5000),
           ("'aaaa", "a" * 100000), ("[0, 1, 2, 3", list(range(100000))),
           ("{0: None, 1: None", big), ("{", set(range(100000))),
           ("[[[[...", [[[[[[1]]]]]]), ("b'" if u == "" else "'", b"\xff" * 5000)]
    for kind, rows in (("same", told), ("cut", cut)):
        for text, value in rows:
            say({"kind": kind, "text": text, "address": id(value)})
    say(None)
    os.read(0, 1)


def main():
    introduce()
    what = sys.argv[1]
    if what == "codes":
        codes()
    elif what == "values":
        values()
    else:
        frames(what == "sleep", 40 if what == "frames" else 1)


main()
