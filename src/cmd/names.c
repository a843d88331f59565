#include "cmd/names.h"

#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "sample/symbolise.h"

#define PATIENCE  NS_PER_SECOND /* before there is a bar */
#define BAR_WIDTH 24

static volatile sig_atomic_t skipped;

void names_bar(uint64_t *since, uint64_t done, uint64_t total)
{
	struct buffer line = BUFFER_INIT;
	uint64_t now = clock_now();

	if (!*since)
		*since = now;
	if (now - *since < PATIENCE)
		return;
	buffer_add_string(&line, "pyrometer: native names [");
	for (uint64_t i = 0; i < BAR_WIDTH; i++)
		buffer_add_string(&line,
				  i * total < done * BAR_WIDTH ? "#" : ".");
	buffer_add_string(&line, "] ");
	text_add_count(&line, done);
	buffer_add_string(&line, " of ");
	text_add_count(&line, total);
	buffer_add_string(&line, "; Ctrl-C skips the rest");
	cmd_status(buffer_text(&line));
	buffer_release(&line);
}

static void on_signal(int number)
{
	(void)number;
	skipped = 1;
}

static void show(void *context, uint64_t done, uint64_t total)
{
	names_bar(context, done, total);
}

static void look_up(struct reader *r)
{
	bool terminal = cmd_screen(STDERR_FILENO);
	struct sigaction action = { .sa_handler = on_signal }, before;
	uint64_t since = 0;
	struct symbolise_options options = {
		.progress = terminal ? show : NULL,
		.context = &since,
		.stop = &skipped,
	};
	struct symbolise_counts counts;

	sigaction(SIGINT, &action, &before);
	symbolise_reader(r, &options, &counts);
	sigaction(SIGINT, &before, NULL);
	if (terminal && since && clock_now() - since > PATIENCE)
		cmd_status("");
}

void names_complete(struct reader *reader)
{
	if (symbolise_wanted(reader))
		look_up(reader);
}
