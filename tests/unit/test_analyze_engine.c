#include "analyze/engine.h"
#include "analyze_support.h"
#include "base/buffer.h"

/* An engine over two recordings: a small one, and one of two blocks. */
struct made {
	struct fake a, b;
	struct engine *engine;
	struct buffer answer;
};

static struct made make(uint64_t budget)
{
	struct made m = { .a = fake_begin(), .b = fake_begin() };
	uint32_t t;

	t = fake_thread(&m.a, 0, 100, "<b>Main</b>");
	fake_run(&m.a, t, fake_stack(&m.a, "main:1;load:2"), 30);
	fake_run(&m.a, t, fake_stack(&m.a, "main:1;</script>@/app/x.py:5"), 70);
	writer_source(m.a.writer, "/app/x.py", "one\ntwo\n", 8);
	fake_open(&m.a);
	t = fake_thread(&m.b, 0, 100, "Main");
	fake_run(&m.b, t, fake_stack(&m.b, "main:1;load:2"), 50);
	writer_flush(m.b.writer, NULL);
	fake_run(&m.b, t, fake_stack(&m.b, "main:1;save:2"), 50);
	fake_open(&m.b);
	m.engine = engine_new(budget);
	assert_int_equal(engine_add(m.engine, m.a.reader, "a.pyro", NULL), 0);
	assert_int_equal(engine_add(m.engine, m.b.reader, "b.pyro", NULL), 0);
	m.a.reader = m.b.reader = NULL;
	return m;
}

static void unmake(struct made *m)
{
	engine_free(m->engine);
	buffer_release(&m->answer);
	fake_end(&m->a);
	fake_end(&m->b);
}

static const char *ask(struct made *m, const char *request)
{
	buffer_reset(&m->answer);
	engine_answer(m->engine, request, &m->answer);
	return buffer_text(&m->answer);
}

static void has(struct made *m, const char *request, const char *part)
{
	const char *answer = ask(m, request);

	if (!strstr(answer, part)) {
		print_error("%s\n  has no %s:\n  %s\n", request, part, answer);
		assert_true(false);
	}
}

static void answers_every_view(void **state)
{
	struct made m = make(1000);

	has(&m, "view=info", "\"name\":\"<b>Main</b>\"");
	has(&m, "view=info", "\"name\":\"b.pyro\"");
	has(&m, "view=top", "\"samples\":100,");
	has(&m, "view=top", "[2,70,70,");
	has(&m, "view=top",
	    "[2,\"</script>\",\"x.py\",1,0,\"\",\"/app/x.py\",\"\"]");
	has(&m, "view=flame", "\"total\":[100,100,70,30]");
	has(&m, "view=flame&path=f0.f1", "\"total\":[30]");
	has(&m, "view=flame&path=f0.f99", "\"path_depth\":1");
	has(&m, "view=flame&split=1", "\"kind\":[0,2,1,1,1]");
	has(&m, "view=sandwich&function=1", "\"total\":30,");
	has(&m, "view=timeline&buckets=2", "\"lanes\":[[0,\"00o00000n000\"]]");
	has(&m, "view=timeline&buckets=2&function=1",
	    "\"lanes\":[[0,\"00o00U00n000\"]]");
	has(&m, "view=moment&thread=0&at=50000000", "\"stack\":[[0,1],[2,5]]");
	has(&m, "view=chrono&thread=0&columns=10",
	    "\"boxes\":[1,0,3,1,1,3,10,2,0,0,10,0]");
	has(&m, "view=files", "[\"/app/x.py\",\"x.py\",70,70,true,false,0]");
	has(&m, "view=files&q=x%5C.py",
	    "[\"/app/x.py\",\"x.py\",70,70,true,true,0]");
	has(&m, "view=flame&sure=1", "\"total_sure\":[");
	has(&m, "view=timeline&buckets=2&q=^load",
	    "\"lanes\":[[0,\"00o00U00n000\"]]");
	has(&m, "view=waits&thread=0", "\"samples\":0,");
	has(&m, "view=source&path=/app/x.py", "\"text\":\"one\\ntwo\\n\"");
	has(&m, "view=source&path=/app/x.py", "[[5,70,70,");
	has(&m, "view=source&path=/app/gone.py", "\"text\":null");
	has(&m, "view=search&q=x%5C.py", "\"matched\":70,\"self\":70");
	has(&m, "view=search&q=x%5C.py", "\"hits\":[2]");
	has(&m, "view=compare&file=1&base=0", "\"sides\":[100,100]");
	has(&m, "view=compare&file=1&base=0&q=^save", ",0,1]],");
	has(&m, "view=compare&file=1&base=0&path=f0.f1", "\"path_depth\":2");
	unmake(&m);
}

static void filters(void **state)
{
	struct made m = make(1000);

	has(&m, "view=top&from=0&to=19900000", "\"samples\":20,");
	has(&m, "view=top&threads=0", "\"samples\":100,");
	has(&m, "view=top&threads=7", "\"samples\":0,");
	has(&m, "view=top", "\"samples\":100,");
	has(&m, "view=top&mode=gil", "\"samples\":100,");
	unmake(&m);
}

static void counts_part_of_what_is_too_large(void **state)
{
	struct made m = make(60);

	has(&m, "view=flame&file=1", "\"stride\":2");
	has(&m, "view=flame&file=1", "\"samples\":50,");
	has(&m, "view=flame&file=1&exact=1", "\"samples\":100,");
	has(&m, "view=flame&file=1&exact=1", "\"stride\":1");
	unmake(&m);
}

static void says_what_is_wrong(void **state)
{
	struct made m = make(1000);

	has(&m, "", "{\"error\":\"there is no view ''\"}");
	has(&m, "view=%22", "no view '\\\"'");
	has(&m, "view=top&file=9", "there is no recording 9");
	has(&m, "view=sandwich&function=99", "no such function");
	has(&m, "view=search&q=(", "no regular expression");
	has(&m, "view=compare", "takes two recordings");
	has(&m, "view=timeline&from=99999999999999999999&to=1", "\"lanes\"");
	unmake(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_every_view),
		cmocka_unit_test(filters),
		cmocka_unit_test(counts_part_of_what_is_too_large),
		cmocka_unit_test(says_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
