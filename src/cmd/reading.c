#include "cmd/reading.h"

#include <stdio.h>

#include "cmd/names.h"

int reading_open(struct reader **out, const char *path, bool loud,
		 struct error *err)
{
	int status = reader_open(out, path, err);
	const char *notice = status < 0 ? NULL : reader_notice(*out);

	if (notice && !reader_threads(*out)) {
		status = fail(err, ERR_CORRUPT, "%s: %s; there is nothing left",
			      path, notice);
		reader_free(*out);
		*out = NULL;
	} else if (notice && loud) {
		fprintf(stderr, "pyrometer: %s: %s\n", path, notice);
	}
	if (status == 0)
		names_complete(*out);
	return status;
}
