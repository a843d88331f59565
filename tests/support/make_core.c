/* Write a small core file, as a seed and for tests that break it.
 *
 *   make_core MAPPED_FILE OUT */
#include <stdio.h>

#include "fake_core.h"

int main(int argc, char **argv)
{
	struct buffer out = BUFFER_INIT;
	FILE *file;

	if (argc != 3) {
		fputs("usage: make_core MAPPED_FILE OUT\n", stderr);
		return 2;
	}
	fake_core_sample(argv[1], &out);
	file = fopen(argv[2], "wb");
	if (!file || fwrite(out.data, 1, out.size, file) != out.size ||
	    fclose(file)) {
		perror(argv[2]);
		return 1;
	}
	buffer_release(&out);
	return 0;
}
