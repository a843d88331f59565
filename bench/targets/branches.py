"""Many different stacks, up to 100 deep: values of a large random expression.

The tree is always the same one: a few thousand nodes of eight kinds, long
branches with short twigs. Each kind has its function, which calls the
functions of its children, so that nearly every node is a stack of its own.
"""
import random

import support

NODES = 3000
LEVELS = 48  # of two frames each, below <module>, main and the root


def negate(node):
    return -value(node, 0)


def add(node):
    return value(node, 0) + value(node, 1)


def subtract(node):
    return value(node, 0) - value(node, 1)


def mask(node):
    return value(node, 0) & 0xFFFF


def choose(node):
    condition = value(node, 0)
    yes, no = value(node, 1), value(node, 2)
    return yes if condition & 1 else no


def largest(node):
    best = value(node, 0)
    for i in range(1, len(node[1])):
        best = max(best, value(node, i))
    return best


def fold(node):
    result = 0
    for i in range(len(node[1])):
        result = (result * 31 + value(node, i)) & 0xFFFFFF
    return result


def leaf(node):
    x = node[2]
    for i in range(20):
        x = (x * 17 + i) & 0xFFFF
    return x


KINDS = ((negate, 1), (add, 2), (subtract, 2), (mask, 1), (choose, 3), (largest, 2), (fold, 4))


def value(node, i):
    child = node[1][i]
    return child[0](child)


def grow(rng, size):
    """A tree of about `size` inner nodes: [function, children, number]."""
    root = [fold, [], 0]
    open_nodes = [(root, 4, 1)]
    while size > 0 and open_nodes:
        # Mostly the newest, so that branches become long.
        at = -1 if rng.random() < 0.9 else rng.randrange(len(open_nodes))
        node, wanted, depth = open_nodes.pop(at)
        for _ in range(wanted):
            function, children = rng.choice(KINDS)
            child = [function, [], rng.randrange(1000)]
            node[1].append(child)
            if depth < LEVELS:
                open_nodes.append((child, children, depth + 1))
            else:
                child[0] = leaf
            size -= 1
    for node, _, _ in open_nodes:
        node[0] = leaf
    return root


def main():
    work = support.begin(support.parser(__doc__).parse_args())
    root = grow(random.Random(7), NODES)
    while work.goes_on():
        fold(root)


if __name__ == "__main__":
    main()
