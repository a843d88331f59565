#include "sample/equipment.h"

#include <stdio.h>
#include <stdlib.h>

#include "elf/debugfile.h"
#include "elf/disassembly.h"
#include "elf/kallsyms.h"

static void probe_disassembly(struct finding *f)
{
	bool there = disassembly_available();

	*f = (struct finding){ "disassembly", "report --asm",
			       there ? VERDICT_FINE : VERDICT_LACKING };
	snprintf(f->fact, sizeof(f->fact), "%s",
		 there ? "built with capstone" : "built without capstone");
	if (!there)
		snprintf(f->remedy, sizeof(f->remedy),
			 "install libcapstone-dev and build Pyrometer anew");
}

static void probe_kernel(struct finding *f)
{
	struct code_names names = CODE_NAMES_INIT;
	struct error err = ERROR_INIT;

	*f = (struct finding){ "names of the kernel", "kernel stacks",
			       VERDICT_FINE };
	if (kallsyms_read(&names, &err) < 0) {
		f->verdict = VERDICT_LACKING;
		snprintf(f->fact, sizeof(f->fact), "%.230s", err.text);
	} else {
		snprintf(f->fact, sizeof(f->fact),
			 "%u functions in /proc/kallsyms", names.count);
	}
	if (err.code == ERR_PERMISSION)
		snprintf(f->remedy, sizeof(f->remedy),
			 "sudo sysctl kernel.kptr_restrict=0");
	code_names_release(&names);
}

/* Nothing is lacking without: nobody is asked unless told so. */
static void probe_servers(struct finding *f)
{
	bool set = debugfile_may_download(), there = debugfile_has_client();

	*f = (struct finding){ "debug information by network",
			       "lines of native code without debug packages",
			       set && !there ? VERDICT_LACKING : VERDICT_FINE };
	snprintf(f->fact, sizeof(f->fact), "%s",
		 !set	 ? "not asked for: DEBUGINFOD_URLS is not set"
		 : there ? "from DEBUGINFOD_URLS"
			 : "DEBUGINFOD_URLS is set, but there is no "
			   "libdebuginfod");
	if (f->verdict == VERDICT_LACKING)
		snprintf(f->remedy, sizeof(f->remedy),
			 "install libdebuginfod (Debian: libdebuginfod1)");
}

int equipment_probe(struct finding out[EQUIPMENT_FINDINGS_MAX])
{
	probe_disassembly(&out[0]);
	probe_kernel(&out[1]);
	probe_servers(&out[2]);
	return 3;
}
