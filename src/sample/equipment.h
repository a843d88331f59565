/* What helps to name native code here: optional parts of this build, and lists
 * that the kernel may hide. */
#ifndef PYROMETER_SAMPLE_EQUIPMENT_H
#define PYROMETER_SAMPLE_EQUIPMENT_H

#include "os/permission.h"

#define EQUIPMENT_FINDINGS_MAX 3

/* Look at all of it. Returns how many findings were stored. */
int equipment_probe(struct finding out[EQUIPMENT_FINDINGS_MAX]);

#endif
