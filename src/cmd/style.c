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

struct view_style style_choose(int colour, int pipe_width)
{
	setlocale(LC_CTYPE, "");
	return (struct view_style){
		.width = cmd_width(STDOUT_FILENO, pipe_width),
		.colour = colour == COLOUR_ALWAYS ||
			  (colour == COLOUR_AUTO && cmd_colour(STDOUT_FILENO)),
		.unicode = !isatty(STDOUT_FILENO) ||
			   !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};
}
