"""Make C string constants of text files: embed.py FILE... HEADER

`style.css` becomes `static const char style_css[]`.
"""
import json
import re
import sys
from pathlib import Path


def constant(path):
    name = re.sub(r"\W", "_", path.name)
    lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    body = "\n".join("\t" + json.dumps(line) for line in lines)
    return f"static const char {name}[] =\n{body};\n"


*files, header = map(Path, sys.argv[1:])
header.write_text("\n".join(map(constant, files)))
