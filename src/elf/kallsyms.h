/* /proc/kallsyms: the functions of the running kernel and its modules. */
#ifndef PYROMETER_ELF_KALLSYMS_H
#define PYROMETER_ELF_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "elf/code_names.h"

/* Read the list. -ERR_PERMISSION with what to change when the kernel hides
 * addresses (it then shows all of them as 0), -ERR_NOT_FOUND when there is no
 * list. The owner of a piece is the kernel module, "" for the kernel itself. */
int kallsyms_read(struct code_names *names, struct error *err);

/* The same over bytes. Returns how many functions have an address; *hidden gets
 * how many have 0. */
uint32_t kallsyms_parse(struct code_names *names, const char *bytes,
			size_t size, uint32_t *hidden);

#endif
