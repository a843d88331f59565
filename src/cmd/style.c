#include "cmd/style.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

const char *const style_colours[] = {
	[COLOUR_AUTO] = "auto",
	[COLOUR_ALWAYS] = "always",
	[COLOUR_NEVER] = "never",
	NULL,
};

struct view_style style_of(int fd, int pipe_width)
{
	setlocale(LC_CTYPE, "");
	return (struct view_style){
		.width = cmd_width(fd, pipe_width),
		.colour = cmd_colour(fd),
		.unicode =
			!isatty(fd) || !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};
}

struct view_style style_choose(int colour, int pipe_width)
{
	struct view_style style = style_of(STDOUT_FILENO, pipe_width);

	if (colour != COLOUR_AUTO)
		style.colour = colour == COLOUR_ALWAYS;
	return style;
}
