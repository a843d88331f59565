"""Reads MOJO, the binary format in which Austin writes its stacks.

The file is "MOJ", a version, then events: a byte that says which, and its
fields. A field is a number (six bits, then seven per further byte; 0x40 of the
first is the sign, 0x80 says that more follow) or a text that ends with a zero.
A stack begins with an event of its own and is complete when the next begins.
"""
METADATA, STACK, FRAME, BAD_FRAME, FRAME_REF, KERNEL = 1, 2, 3, 4, 5, 6
GC, IDLE, TIME, MEMORY, STRING, STRING_REF = 7, 8, 9, 10, 11, 12

UNKNOWN = ("<unknown>", "")


class Reader:
    def __init__(self, data):
        if data[:3] != b"MOJ":
            raise ValueError("not a MOJO file")
        self.data = data
        self.at = 3
        self.metadata = {}
        self.names = {}
        self.frames = {}
        self.version = self.number()

    def number(self):
        byte = self.data[self.at]
        self.at += 1
        value, shift, sign = byte & 0x3F, 6, byte & 0x40
        while byte & 0x80:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
        return -value if sign else value

    def text(self):
        end = self.data.index(b"\0", self.at)
        value = self.data[self.at:end].decode("utf-8", "replace")
        self.at = end + 1
        return value

    def _frame(self):
        key, file, name = self.number(), self.number(), self.number()
        for _ in range(4):  # lines and columns
            self.number()
        self.frames[key] = (self.names.get(name, ""), self.names.get(file, ""))

    def _begin(self):
        self.number()  # process
        self.number()  # interpreter
        self.text()    # thread

    def _skip(self, event):
        """The events that say nothing about a stack's frames."""
        if event == METADATA:
            key = self.text()
            self.metadata[key] = self.text()
        elif event == STRING:
            key = self.number()
            self.names[key] = self.text()
        elif event in (TIME, MEMORY, STRING_REF):
            self.number()
        elif event == KERNEL:
            self.text()
        elif event not in (GC, IDLE):
            raise ValueError("event %d at %d" % (event, self.at))

    def stacks(self):
        """Each sample's frames, outermost first; a bad frame is UNKNOWN."""
        stack = None
        while self.at < len(self.data):
            event = self.data[self.at]
            self.at += 1
            if event == STACK:
                if stack is not None:
                    yield stack
                self._begin()
                stack = []
            elif event == FRAME:
                self._frame()
            elif event == FRAME_REF:
                stack.append(self.frames.get(self.number(), UNKNOWN))
            elif event == BAD_FRAME:
                stack.append(UNKNOWN)
            else:
                self._skip(event)
        if stack is not None:
            yield stack
