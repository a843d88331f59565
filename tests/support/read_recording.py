#!/usr/bin/env python3
"""A second reader of recordings, written from docs/format.md alone.

    read_recording.py FILE                        print what is in it
    read_recording.py --compare MAKE DUMP         make recordings with the
        program MAKE and check that this reader and DUMP print the same

It shows that the page is enough to write a reader, and keeps it so. It is
slow, and believes what it reads.
"""
import ctypes
import ctypes.util
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1
INFO, DEFINITIONS, SAMPLES, MARKERS, SOURCE, INDEX, END = range(1, 8)


def xxh32(data):
    p1, p2, p3, p4, p5 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F,
                          0x165667B1)

    def rotate(v, bits):
        return (v << bits | v >> (32 - bits)) & MASK32

    at, n = 0, len(data)
    h = p5
    if n >= 16:
        lanes = [(p1 + p2) & MASK32, p2, 0, -p1 & MASK32]
        while n - at >= 16:
            for i, word in enumerate(struct.unpack_from("<4I", data, at)):
                mixed = rotate((lanes[i] + word * p2) & MASK32, 13)
                lanes[i] = mixed * p1 & MASK32
            at += 16
        h = sum(map(rotate, lanes, (1, 7, 12, 18)))
    h = (h + n) & MASK32
    while n - at >= 4:
        word, = struct.unpack_from("<I", data, at)
        h = rotate((h + word * p3) & MASK32, 17) * p4 & MASK32
        at += 4
    for byte in data[at:]:
        h = rotate((h + byte * p5) & MASK32, 11) * p1 & MASK32
    h = (h ^ h >> 15) * p2 & MASK32
    h = (h ^ h >> 13) * p3 & MASK32
    return h ^ h >> 16


def load_zstd():
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    lib.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t,
                                    ctypes.c_char_p, ctypes.c_size_t]
    return lib


ZSTD = load_zstd()


def unpack(data, size):
    out = ctypes.create_string_buffer(size)
    assert ZSTD.ZSTD_decompress(out, size, data, len(data)) == size
    return out.raw[:size]


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def bytes(self, n):
        assert n <= len(self.data) - self.at
        self.at += n
        return self.data[self.at - n:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.bytes(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value & MASK64

    def svarint(self):
        v = self.varint()
        return v >> 1 if not v & 1 else -(v >> 1) - 1

    def blob(self):
        return self.bytes(self.varint())


def text(data):
    return data.decode("utf-8", "surrogateescape")


class Recording:
    TEXTS = range(16, 20)  # among the fields of INFO; the others are numbers

    def __init__(self, data):
        mark, major, _, check = struct.unpack_from("<8sHHI", data)
        assert mark == b"\x89PYRO\r\n\x1a" and major == 1
        assert check == xxh32(data[:12])
        self.info = {tag: "" if tag in self.TEXTS else 0
                     for tag in range(1, 26)}
        self.strings, self.processes, self.threads = [], [], []
        self.functions, self.frames, self.nodes = [], [], []
        self.markers, self.blocks, self.sources = [], [], {}
        self.modules, self.sites, self.symbols = [], [], {}
        self.callees = {}
        self.ended = False
        self.places = []
        self.read_blocks(data)

    def read_blocks(self, data):
        at = 16
        while at + 36 <= len(data):
            head = data[at:at + 36]
            (mark, kind, flags, stored, size, check, first, last,
             own) = struct.unpack("<2sBBIIIQQI", head)
            assert mark == b"\xb1\x0c" and own == xxh32(head[:32])
            payload = data[at + 36:at + 36 + stored]
            if len(payload) < stored:
                break
            assert check == xxh32(payload)
            self.read_block(kind, unpack(payload, size) if flags & 1
                            else payload, first, last, at)
            self.places.append((kind, stored, size, first, last))
            at += 36 + stored

    def read_block(self, kind, payload, first, last, at):
        c = Cursor(payload)
        if kind == INFO:
            while c.more():
                tag, value = c.varint(), c.blob()
                self.info[tag] = (text(value) if tag in self.TEXTS
                                  else Cursor(value).varint())
        elif kind in (DEFINITIONS, MARKERS):
            while c.more():
                tag = c.varint()
                self.read_table(tag, Cursor(c.blob()))
        elif kind == SAMPLES:
            self.blocks.append(self.read_samples(c, first, last))
        elif kind == SOURCE:
            name = self.strings[c.varint()]
            self.sources[name] = payload[c.at:]
        elif kind == INDEX:
            self.check_index(c)
            self.index_at = at
        elif kind == END:
            assert struct.unpack("<Q", payload) == (self.index_at,)
            self.ended = True

    def check_index(self, c):
        time = 0
        rows = []
        for _ in range(c.varint()):
            kind, stored, size = c.varint(), c.varint(), c.varint()
            time += c.svarint()
            rows.append((kind, stored, size, time, time + c.varint()))
        assert rows == self.places

    CODINGS = {1: "ub", 2: "dudddd", 3: "ddddud", 4: "ddduu", 5: "ddd",
               6: "uu", 7: "dd", 8: "ddu", 9: "dd", 10: "dudud", 11: "ddddu",
               12: "udu", 13: "ddd",
               14: "ddd"}

    def read_table(self, tag, c):
        first, n = c.varint(), c.varint()
        columns = [c.blob() for _ in range(c.varint())]
        if tag not in self.CODINGS:
            return
        codings = self.CODINGS[tag]
        values = [self.read_column(coding, data, n) for coding, data
                  in zip(codings, columns)]
        values += [[0] * n] * (len(codings) - len(values))
        things = {1: self.strings, 2: self.processes, 3: self.threads,
                  4: self.functions, 5: self.frames, 6: self.nodes,
                  10: self.markers, 11: self.modules, 12: self.sites}.get(tag)
        assert first == (len(things) if things is not None else first)
        add = getattr(self, f"add_{tag}")
        if tag == 1:
            add(values[0], Cursor(columns[1]))
        else:
            for row in zip(*values):
                add(*row)

    @staticmethod
    def read_column(coding, data, n):
        c = Cursor(data)
        if coding == "u":
            return [c.varint() for _ in range(n)]
        value, values = 0, []
        for _ in range(n if coding == "d" else 0):
            value = (value + c.svarint()) & MASK64
            values.append(value)
        return values

    def add_1(self, sizes, texts):
        self.strings += [text(texts.bytes(size)) for size in sizes]

    def add_2(self, pid, parent, start, command, exe, python):
        s = self.strings
        self.processes.append([pid, parent - 1, start, -1, -1, s[command],
                               s[exe], s[python]])

    def add_3(self, process, tid, start, name, flags, interpreter):
        self.threads.append([process, tid, start, -1, interpreter, flags & 1,
                             self.strings[name], 0, 0])

    def add_4(self, name, file, line, kind, module):
        s = self.strings
        self.functions.append((s[name], s[file], s[module], line, kind))

    def add_5(self, function, line, site):
        self.frames.append((function, line, site - 1))

    def add_6(self, distance, callee):
        parent = len(self.nodes) - distance if distance else -1
        caller = self.nodes[parent][1] if distance else None
        known = self.callees.setdefault(caller, [])
        if callee >= len(known):
            known.append(callee - len(known))
            frame = known[-1]
        else:
            frame = known[callee]
        self.nodes.append((parent, frame))

    def add_7(self, thread, name):
        self.threads[thread][6] = self.strings[name]

    def add_8(self, process, when, status):
        self.processes[process][3:5] = when, status - 1

    def add_9(self, thread, when):
        self.threads[thread][3] = when

    def add_10(self, start, duration, name, thread, words):
        self.markers.append((start, start + duration, thread - 1,
                             self.strings[name], self.strings[words]))

    def add_11(self, path, build_id, bias, start, size):
        s = self.strings
        self.modules.append((s[path], s[build_id], bias, start, start + size))

    def add_12(self, module, address, kind):
        self.sites.append((module - 1, address, kind))

    def add_13(self, site, function, line):
        self.symbols.setdefault(site, []).append((function, line))

    def add_14(self, thread, ran, on_cpu):
        self.threads[thread][7:9] = ran, on_cpu

    def resolve(self):
        """Frames and nodes as they are to be shown, and the new node of each."""
        frames = [self.name_frame(*frame) for frame in self.frames]
        nodes, new, shared_frames, shared_nodes = [], [], {}, {}
        for parent, frame in self.nodes:
            parent = new[parent] if parent >= 0 else -1
            symbols = self.symbols.get(self.frames[frame][2], [])
            for function, line in reversed(symbols[1:]):
                outer = (function, line, -1)
                if outer not in shared_frames:
                    shared_frames[outer] = len(frames)
                    frames.append(outer)
                node = (parent, shared_frames[outer])
                if node not in shared_nodes:
                    shared_nodes[node] = len(nodes)
                    nodes.append(node)
                parent = shared_nodes[node]
            new.append(len(nodes))
            nodes.append((parent, frame))
        return frames, nodes, new

    def name_frame(self, function, line, site):
        if site < 0:
            return function, line, site
        if site in self.symbols:
            return (*self.symbols[site][0], site)
        module, address, kind = self.sites[site]
        path = self.modules[module][0] if module >= 0 else ""
        base = path.rpartition("/")[2] or ("[kernel]" if kind == 2 else "")
        name = f"{base}+{address:#x}" if base else f"{address:#x}"
        self.functions.append((name, "", path, 0, kind))
        return len(self.functions) - 1, 0, site

    def read_samples(self, c, first, last):
        shift, step, n_ticks, n_threads, n_runs = (c.varint()
                                                   for _ in range(5))
        sizes = [c.varint() for _ in range(c.varint())]
        ticks, threads, gaps, lengths, states, nodes = (
            Cursor(c.bytes(size)) for size in sizes[:6])
        times = [first]
        for _ in range(n_ticks - 1):
            times.append(times[-1] + ((step + ticks.svarint()) << shift))
        assert times[-1] == last
        runs = []
        thread = highest = 0
        for _ in range(n_threads):
            thread += threads.svarint()
            end = state = 0
            for _ in range(threads.varint()):
                start = end + gaps.varint()
                end = start + lengths.varint() + 1
                state ^= states.varint()
                node = highest + nodes.svarint()
                highest = max(highest, node)
                runs.append((start, thread, end - start, node - 1, state))
        assert len(runs) == n_runs
        runs.sort(key=lambda run: run[0])
        return times, runs

    def lines(self):
        info = [self.info[tag] for tag in range(1, 26)]
        info[2] = max([info[2]] + [b[0][-1] for b in self.blocks])
        info[14] = int(self.ended)
        yield "info %s %s %s" % (" ".join(map(str, info[:15])),
                                 "|".join(info[15:19]),
                                 " ".join(map(str, info[19:])))
        frames, nodes, new = self.resolve()
        for p in self.processes:
            yield "process %d %d %d %d %d %s|%s|%s" % tuple(p)
        for t in self.threads:
            yield "thread %d %d %d %d %d %d %s|%d %d" % tuple(t)
        for f in self.functions:
            yield "function %s|%s|%s %d %d" % f
        for f in frames:
            yield "frame %d %d %d" % f
        for n in nodes:
            yield "node %d %d" % n
        for m in self.modules:
            yield "module %s|%s %d %d %d" % m
        for i, s in enumerate(self.sites):
            yield "site %d %d %d %d" % (*s, len(self.symbols.get(i, "1")))
        for m in self.markers:
            yield "marker %d %d %d %s|%s" % m
        for ticks, runs in self.blocks:
            yield "block %d %d" % (len(ticks), len(runs))
            yield from ("tick %d" % t for t in ticks)
            for start, thread, length, node, state in runs:
                yield "run %d %d %d %d %d" % (
                    start, thread, length, new[node] if node >= 0 else -1,
                    state)


SHAPES = [
    "--ticks 3000 --threads 5 --processes 2 --extras",
    "--ticks 500 --branching 1 --depth 100 --flush 100ms",
    "--ticks 2000 --threads 40 --idle 95 --rate 100k --flush 3ms",
    "--ticks 300 --depth 300 --branching 4 --seed 9 --rate 10",
    "--ticks 900 --threads 3 --native --extras --flush 50ms",
    "--ticks 200 --native --unnamed 100 --seed 3 --depth 40",
]


def check_same(ours, theirs, what):
    ours, theirs = list(ours), theirs.split("\n")[:-1]
    for number, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            sys.exit(f"{what}: line {number}: this reader says {a!r}, "
                     f"Pyrometer's {b!r}")
    if len(ours) != len(theirs):
        sys.exit(f"{what}: {len(ours)} lines here, {len(theirs)} there")


def compare(make, dump):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "recording.pyro")
        for shape in SHAPES:
            subprocess.run([make, "-o", path, *shape.split()], check=True,
                           stderr=subprocess.DEVNULL)
            data = path.read_bytes()
            # Whole, and cut in the middle of some block.
            for size in (len(data), len(data) // 2):
                path.write_bytes(data[:size])
                theirs = subprocess.run(
                    [dump, path], check=True, stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL).stdout
                check_same(Recording(data[:size]).lines(), text(theirs),
                           f"{shape} ({size} bytes)")
    print(f"{len(SHAPES)} recordings read alike")


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--compare":
        compare(*sys.argv[2:])
    elif len(sys.argv) == 2:
        for line in Recording(Path(sys.argv[1]).read_bytes()).lines():
            print(line)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
