"""Load a file with the pstats of whatever Python runs this (2.7 and later):
    python pstats_reader.py FILE
prints "total seconds", then per function "name file line nc tt ct callers"."""
import io
import pstats
import sys

stats = pstats.Stats(sys.argv[1], stream=io.StringIO())
stats.stream = open("/dev/null", "w")
stats.sort_stats("cumulative").print_stats()
stats.print_callers()
stats.print_callees()
rows = ["%.6f" % stats.total_tt]
for (name, line, function), (cc, nc, tt, ct, callers) in sorted(stats.stats.items()):
    who = ",".join("%s:%d" % (key[2], value[1]) for key, value in sorted(callers.items()))
    rows.append("\t".join([function, name, str(line), str(nc), "%.6f" % tt, "%.6f" % ct, who]))
text = u"\n".join(row if isinstance(row, type(u"")) else row.decode("utf-8") for row in rows)
getattr(sys.stdout, "buffer", sys.stdout).write(text.encode("utf-8"))
