/* How what a command prints should look. */
#ifndef PYROMETER_CMD_STYLE_H
#define PYROMETER_CMD_STYLE_H

#include "view/style.h"

/* The option --color of a command, with the int behind it. */
#define STYLE_OPTION(colour)                                              \
	{                                                                 \
		OPTION_CHOICE, 0, "color", "WHEN", &(colour),             \
			"Colours: auto, always or never (default: auto, " \
			"for terminals).",                                \
			style_colours                                     \
	}

extern const char *const style_colours[];

/* The style that suits a file; `pipe_width` columns when it is no terminal. */
struct view_style style_of(int fd, int pipe_width);

/* The style of standard output, with the colours that the user asked for. */
struct view_style style_choose(int colour, int pipe_width);

#endif
