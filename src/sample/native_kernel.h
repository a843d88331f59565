/* Which of the kernel's frames are of the switch itself.
 *
 * Registers and kernel frames are written down when a thread leaves its CPU, so
 * every chain ends in the scheduler. Of a thread that runs, and was made to
 * leave by us, all from the interrupt on is our own doing; of one that sleeps
 * the chain is true but for the scheduler at its end. */
#ifndef PYROMETER_SAMPLE_NATIVE_KERNEL_H
#define PYROMETER_SAMPLE_NATIVE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

struct native_kernel;

/* Reads the kernel's list of functions; where that is hidden, nothing is cut.
 */
struct native_kernel *native_kernel_new(void);
void native_kernel_free(struct native_kernel *k); /* NULL-safe */

/* How many frames, innermost first, are of the switch. */
uint32_t native_kernel_cut(struct native_kernel *k, const uint64_t *frames,
			   uint32_t n, bool running);

#endif
