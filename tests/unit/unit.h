/* What every unit test includes: cmocka, whose header wants these four before
 * it, and whose macro fail() would hide our function of that name. */
#ifndef PYROMETER_TESTS_UNIT_H
#define PYROMETER_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef fail

#endif
