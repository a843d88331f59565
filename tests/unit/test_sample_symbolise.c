/* Recordings of made-up samples in a real program get its names. */
#include <stdio.h>
#include <sys/stat.h>

#include "elf_support.h"
#include "sample/symbolise.h"
#include "test_record_support.h"

struct recording {
	struct workshop workshop;
	uint64_t address;
	char *path, build_id[64];
	int fd;
	struct writer *w;
	struct buffer bytes;
	struct reader *r;
};

static void begin(struct recording *t)
{
	struct symbols *s;

	memset(t, 0, sizeof(*t));
	t->workshop = build("-g", &t->address);
	t->path = workshop_path(&t->workshop, "program");
	s = open_in(&t->workshop, "program");
	strcpy(t->build_id, symbols_build_id(s));
	symbols_free(s);
	t->fd = memory_file();
	t->w = new_writer(t->fd);
	define_process_and_thread(t->w);
	writer_tick(t->w, START);
}

/* A sample at an address of a module; `build_id` NULL: no module. */
static uint32_t see(struct recording *t, const char *path, const char *build_id,
		    uint64_t address, enum function_kind kind)
{
	struct module_info module = { path, build_id, 0, 0, 0 };
	struct site_info info = { build_id ? writer_module(t->w, &module)
					   : ID_NONE,
				  address, kind };
	uint32_t site = writer_site(t->w, &info);

	writer_sample(t->w, 0,
		      writer_node(t->w, ID_NONE, writer_site_frame(t->w, site)),
		      STATE_NATIVE);
	return site;
}

static void open_it(struct recording *t)
{
	t->bytes = file_bytes(t->fd);
	assert_int_equal(reader_open_memory(&t->r, t->bytes.data, t->bytes.size,
					    NULL),
			 0);
}

static void end(struct recording *t)
{
	reader_free(t->r);
	writer_free(t->w);
	buffer_release(&t->bytes);
	close(t->fd);
	workshop_end(&t->workshop);
	free(t->path);
}

static bool has_function(const struct reader *r, const char *name,
			 const char *module)
{
	for (uint32_t i = 0; i < reader_functions(r); i++) {
		const struct function_info *f = reader_function(r, i);

		if (!strcmp(f->name, name) &&
		    (!module || !strcmp(f->module, module)))
			return true;
	}
	return false;
}

static void check_chain(const struct recording *t)
{
	assert_true(has_function(t->r, "innermost", t->path));
	assert_true(has_function(t->r, "middle", t->path));
	assert_true(has_function(t->r, "outermost", t->path));
}

struct progress {
	uint64_t calls, first, total;
};

static void note(void *context, uint64_t done, uint64_t total)
{
	struct progress *p = context;

	if (!p->calls++)
		p->first = done;
	assert_true(done <= total);
	p->total = total;
}

static void test_after_recording(void **state)
{
	struct progress progress = { 0, 99, 0 };
	struct symbolise_options options = { .progress = note,
					     .context = &progress };
	struct symbolise_counts counts;
	struct recording t;

	(void)state;
	begin(&t);
	see(&t, t.path, t.build_id, t.address, FUNCTION_NATIVE);
	see(&t, t.path, t.build_id, 1, FUNCTION_NATIVE);
	see(&t, "/no/such/file", "abcdef", 1, FUNCTION_NATIVE);
	symbolise_writer(t.w, &options, &counts);
	assert_int_equal(counts.sites, 3);
	assert_int_equal(counts.named, 1);
	assert_int_equal(counts.modules, 2);
	assert_int_equal(counts.missing, 1);
	assert_false(counts.stopped);
	assert_true(progress.calls >= 1);
	assert_int_equal(progress.first, 0);
	assert_int_equal(progress.total, 3);
	assert_int_equal(writer_finish(t.w, NULL), 0);
	open_it(&t);
	check_chain(&t);
	end(&t);
}

/* The recorder was killed: names are looked up when the recording is read, if
 * the file is the same. */
static void check_broken_off(const char *build_id, bool found)
{
	struct symbolise_options options = { 0 };
	struct symbolise_counts counts;
	struct recording t;

	begin(&t);
	see(&t, t.path, build_id ? build_id : t.build_id, t.address,
	    FUNCTION_NATIVE);
	assert_int_equal(writer_flush(t.w, NULL), 0);
	open_it(&t);
	assert_true(symbolise_wanted(t.r));
	assert_false(has_function(t.r, "outermost", NULL));
	symbolise_reader(t.r, &options, &counts);
	assert_int_equal(counts.named, found);
	if (found)
		check_chain(&t);
	end(&t);
}

static void test_when_reading(void **state)
{
	(void)state;
	check_broken_off(NULL, true);
	check_broken_off("abcdef0123", false);
	check_broken_off("", false); /* may be any file by now */
}

static void test_interrupted(void **state)
{
	volatile sig_atomic_t stop = 1;
	struct symbolise_options options = { .stop = &stop };
	struct symbolise_counts counts;
	struct recording_info info = { .complete = true,
				       .version = "",
				       .host = "",
				       .command = "",
				       .note = SYMBOLISE_NOTE };
	struct recording t;

	(void)state;
	begin(&t);
	see(&t, t.path, t.build_id, t.address, FUNCTION_NATIVE);
	symbolise_writer(t.w, &options, &counts);
	assert_true(counts.stopped);
	assert_int_equal(counts.named, 0);
	writer_info(t.w, &info);
	assert_int_equal(writer_finish(t.w, NULL), 0);
	open_it(&t);
	assert_true(symbolise_wanted(t.r));
	end(&t);
}

/* A recorder that found nothing has looked: it is not tried again. */
static void test_looked_for_in_vain(void **state)
{
	struct recording_info info = { .complete = true,
				       .version = "",
				       .host = "",
				       .command = "",
				       .note = "" };
	struct recording t;

	(void)state;
	begin(&t);
	see(&t, "/no/such/file", "abcdef", 1, FUNCTION_NATIVE);
	writer_info(t.w, &info);
	assert_int_equal(writer_finish(t.w, NULL), 0);
	open_it(&t);
	assert_int_equal(reader_unnamed_sites(t.r), 1);
	assert_false(symbolise_wanted(t.r));
	end(&t);
}

/* Code made at run time, in a root of its own. */
static void test_jit(void **state)
{
	struct symbolise_target target = { .pid = 4242, .inner = 7 };
	struct symbolise_targets targets = { &target, 1, 1 };
	struct symbolise_options options = { .targets = &targets };
	struct symbolise_counts counts;
	struct recording t;

	(void)state;
	begin(&t);
	workshop_run(&t.workshop, "mkdir tmp && "
				  "echo 1000 10 made >tmp/perf-7.map && "
				  "echo 9000 10 other >tmp/perf-4242.map");
	target.owner = getuid();
	target.root = open(t.workshop.folder, O_PATH | O_DIRECTORY);
	see(&t, "[jit 4242]", "", 0x1008, FUNCTION_NATIVE);
	see(&t, "[jit 4242]", "", 0x9008, FUNCTION_NATIVE);
	see(&t, "[jit 5]", "", 0x1004, FUNCTION_NATIVE);
	see(&t, NULL, NULL, 0x100f, FUNCTION_NATIVE);
	symbolise_writer(t.w, &options, &counts);
	assert_int_equal(counts.sites, 4);
	assert_int_equal(counts.named, 2);
	close(target.root);
	assert_int_equal(writer_finish(t.w, NULL), 0);
	open_it(&t);
	assert_true(has_function(t.r, "made", NULL));
	assert_false(has_function(t.r, "other", NULL));
	end(&t);
}

/* The address of a function of this kernel; 0 when it is hidden. */
static uint64_t kernel_function(char name[128])
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long address = 0;
	char line[512], kind;

	while (file && !address && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx %c %127s", &address, &kind, name) != 3 ||
		    strcmp(name, "schedule"))
			address = 0;
	if (file)
		fclose(file);
	return address;
}

static void test_kernel(void **state)
{
	struct symbolise_options options = { 0 };
	struct symbolise_counts counts;
	struct recording t;
	char name[128];
	uint64_t address = kernel_function(name);

	(void)state;
	if (!address)
		skip();
	begin(&t);
	see(&t, NULL, NULL, address + 1, FUNCTION_KERNEL);
	symbolise_writer(t.w, &options, &counts);
	assert_int_equal(counts.named, 1);
	assert_int_equal(writer_finish(t.w, NULL), 0);
	open_it(&t);
	assert_true(has_function(t.r, name, "[kernel]"));
	end(&t);
}

/* The root of a process that lives elsewhere is held; of one like us it is not.
 */
static void test_targets(void **state)
{
	struct symbolise_targets targets = SYMBOLISE_TARGETS_INIT;

	(void)state;
	symbolise_targets_add(&targets, getpid());
	symbolise_targets_add(&targets, getpid());
	assert_int_equal(targets.count, 1);
	assert_int_equal(targets.items[0].pid, getpid());
	assert_int_equal(targets.items[0].owner, geteuid());
	assert_int_equal(targets.items[0].root, -1);
	symbolise_targets_release(&targets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_after_recording),
		cmocka_unit_test(test_when_reading),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_looked_for_in_vain),
		cmocka_unit_test(test_jit),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
