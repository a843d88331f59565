/* What this machine permits a profiler to do, and how to permit the rest. */
#ifndef PYROMETER_OS_PERMISSION_H
#define PYROMETER_OS_PERMISSION_H

#include <stdbool.h>
#include <sys/types.h>

enum verdict {
	VERDICT_FINE,
	VERDICT_LACKING, /* something works less well without it */
	VERDICT_FATAL,	 /* what Pyrometer is for does not work without it */
};

/* One thing that was looked at. */
struct finding {
	const char *what;
	const char *purpose; /* what it is for; "" when that is plain */
	enum verdict verdict;
	char fact[240];	  /* what was found */
	char remedy[400]; /* the command that mends it; "" when there is none */
};

#define PERMISSION_FINDINGS_MAX 19

/* Try everything. Returns how many findings were stored. */
int permission_probe(struct finding out[PERMISSION_FINDINGS_MAX]);

/* Why the memory of a process may not be read, after that was refused, and what
 * to do: fills the fact and the remedy. */
void permission_explain(struct finding *out, pid_t pid);

/* The effective user of a process; -1 when it cannot be told. */
long permission_user(pid_t pid);
/* The name of a user, or the number. */
void permission_user_name(long uid, char name[64]);

#endif
