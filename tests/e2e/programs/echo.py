"""Say the arguments, repeat the input, complain, and exit as the first argument says."""
import sys
import time

sys.stdout.write(" ".join(sys.argv[1:]) + "\n")
sys.stdout.write(sys.stdin.read())
sys.stderr.write("complaint\n")
time.sleep(0.1)  # long enough to be seen
sys.exit(int(sys.argv[1]))
