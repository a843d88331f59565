"""The C of the standard library: regular expressions and JSON."""
import json
import re

import support

WORDS = " ".join("word%d value-%d (item_%d)" % (i, i * 7, i * 31) for i in range(400))
PATTERN = re.compile(r"(\w+)-(\d+)\s+\((\w+?)(\d+)\)")
TABLE = [{"name": "n%d" % i, "values": list(range(20)), "text": u"\u00e9" * 10}
         for i in range(60)]


def search():
    return len(PATTERN.findall(WORDS))


def encode():
    return json.dumps(TABLE)


def decode(text):
    return json.loads(text)


def main():
    work = support.begin(support.parser(__doc__).parse_args())
    text = encode()
    while work.goes_on():
        search()
        decode(text)
        encode()


if __name__ == "__main__":
    main()
