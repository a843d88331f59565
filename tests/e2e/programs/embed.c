/* A program of its own that has a Python in it: runs the script that is its
 * first argument. */
#include <Python.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	FILE *script = argc > 1 ? fopen(argv[1], "r") : NULL;

	if (!script)
		return 2;
	Py_Initialize();
	PyRun_SimpleString("import sys; sys.argv = ['embedded']");
	return PyRun_SimpleFile(script, argv[1]) ? 1 : 0;
}
