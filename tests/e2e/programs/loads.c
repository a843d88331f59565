/* A library of which loads.py loads many: some milliseconds of work. */
#define TURNS 5000000

__attribute__((noinline)) static unsigned spin(unsigned x)
{
	for (int i = 0; i < TURNS; i++)
		x = x * 1664525 + 1013904223;
	return x;
}

unsigned work(void);
unsigned work(void)
{
	volatile unsigned x = 1;

	x = spin(x);
	return x;
}
