"""Call-heavy: the queens' problem in many small functions and methods."""
import support

CALLERS = {
    "main": ("<module>",),
    "search": ("main", "search"),
    "safe": ("search",),
    "column": ("safe",),
    "falling": ("safe",),
    "rising": ("safe",),
    "place": ("search",),
    "remove": ("search",),
    "finished": ("search",),
    "__init__": ("main",),
    "goes_on": ("main",),
}


class Board(object):
    def __init__(self, size):
        self.size = size
        self.columns = set()
        self.diagonals = set()
        self.antidiagonals = set()

    def column(self, x):
        return x in self.columns

    def falling(self, x, y):
        return x + y in self.diagonals

    def rising(self, x, y):
        return x - y in self.antidiagonals

    def safe(self, x, y):
        return not (self.column(x) or self.falling(x, y) or self.rising(x, y))

    def place(self, x, y):
        self.columns.add(x)
        self.diagonals.add(x + y)
        self.antidiagonals.add(x - y)

    def remove(self, x, y):
        self.columns.discard(x)
        self.diagonals.discard(x + y)
        self.antidiagonals.discard(x - y)

    def finished(self, y):
        return y == self.size

    def search(self, y):
        if self.finished(y):
            return 1
        found = 0
        for x in range(self.size):
            if self.safe(x, y):
                self.place(x, y)
                found += self.search(y + 1)
                self.remove(x, y)
        return found


def main():
    work = support.begin(support.parser(__doc__).parse_args())
    board = Board(4)
    while work.goes_on():
        board.search(0)


if __name__ == "__main__":
    main()
