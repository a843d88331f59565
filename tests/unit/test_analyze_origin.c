#include "analyze/origin.h"
#include "analyze_support.h"

static bool is_library(const char *file)
{
	struct function_info f = { "f", file, 1, FUNCTION_PYTHON, "" };

	return origin_is_library(&f);
}

static void test_library_paths(void **state)
{
	static const char *const library[] = {
		"/usr/lib/python3.12/json/decoder.py",
		"/usr/lib/python3/dist-packages/apt/cache.py",
		"/home/u/.pyenv/versions/3.13.1t/lib/python3.13t/re/_parser.py",
		"/venv/lib/python3.8/site-packages/django/core/base.py",
		"/usr/lib64/python2.7/threading.py",
		"/usr/lib/python312.zip/encodings/utf_8.py",
		"<frozen importlib._bootstrap>",
		"/venv/bin/pytest",
	};
	static const char *const user[] = {
		"/home/u/project/app.py",
		"/home/u/python/lib.py",
		"/home/u/lib/python/app.py/x", /* no version */
		"/srv/bin/tool.py",
		"/mylib/pythonic/code.py",
		"<string>",
		"<stdin>",
		"app.py",
		"",
	};

	for (size_t i = 0; i < sizeof(library) / sizeof(*library); i++)
		if (!is_library(library[i]))
			assert_string_equal(library[i], "a library's");
	for (size_t i = 0; i < sizeof(user) / sizeof(*user); i++)
		if (is_library(user[i]))
			assert_string_equal(user[i], "the user's");
}

static bool is_native_library(const char *module)
{
	struct function_info f = { "f", "", 1, FUNCTION_NATIVE, module };

	return origin_is_library(&f);
}

static void test_native_libraries(void **state)
{
	static const char *const library[] = {
		"/usr/lib/x86_64-linux-gnu/libc.so.6",
		"/lib64/ld-linux-x86-64.so.2",
		"/usr/local/bin/python3.12",
		"/home/u/.pyenv/versions/3.12.1/bin/python3.12",
		"/home/u/.pyenv/versions/3.12.1/lib/libpython3.12.so.1.0",
		"/home/u/.pyenv/versions/3.12.1/lib/python3.12/lib-dynload/"
		"_json.cpython-312-x86_64-linux-gnu.so",
		"/v/lib/python3.8/site-packages/numpy/core/_umath.so",
		"/v/lib/python3.8/site-packages/numpy.libs/libopenblas.so",
		"/opt/conda/envs/x/lib/libmkl_core.so.2",
		"[vdso]",
		"",
	};
	static const char *const user[] = {
		"/home/u/project/fast.cpython-312-x86_64-linux-gnu.so",
		"/usr/src/app/fast.so", /* where containers keep programs */
		"/home/u/lib/fast.so",
		"/srv/app/build/libmine.so",
	};

	for (size_t i = 0; i < sizeof(library) / sizeof(*library); i++)
		if (!is_native_library(library[i]))
			assert_string_equal(library[i], "a library's");
	for (size_t i = 0; i < sizeof(user) / sizeof(*user); i++)
		if (is_native_library(user[i]))
			assert_string_equal(user[i], "the user's");
}

static void test_headers_are_no_own_code(void **state)
{
	struct function_info f = { "f", "/usr/include/c++/12/vector", 1,
				   FUNCTION_NATIVE, "/app/fast.so" };

	assert_true(origin_is_library(&f));
	f.file = "/home/u/.cargo/registry/src/regex/src/lib.rs";
	assert_true(origin_is_library(&f));
	f.file = "/app/src/fast.h";
	assert_false(origin_is_library(&f));
}

static void check_package(const char *file, const char *package)
{
	struct function_info f = { "f", file, 1, FUNCTION_PYTHON, "" };
	struct buffer out = BUFFER_INIT;

	origin_package(&f, &out);
	assert_string_equal(buffer_text(&out), package);
	buffer_release(&out);
}

static void check_native_package(const char *module, const char *package)
{
	struct function_info f = { "f", "x.c", 1, FUNCTION_NATIVE, module };
	struct buffer out = BUFFER_INIT;

	origin_package(&f, &out);
	assert_string_equal(buffer_text(&out), package);
	buffer_release(&out);
}

static void test_packages(void **state)
{
	check_native_package("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc");
	check_native_package("/v/lib/python3.8/site-packages/numpy.libs/a.so",
			     "numpy");
	check_native_package("/p/lib/libpython3.11.so.1.0", "libpython3.11");
	check_native_package("/usr/bin/python3.12", "python3.12");
	check_native_package("/usr/lib/python3.12/lib-dynload/"
			     "_json.cpython-312-x86_64-linux-gnu.so",
			     "_json");
	check_native_package("[vdso]", "[vdso]");
	check_native_package("/v/lib/python3.8/site-packages/_x.abi3.so", "_x");
	check_native_package("", "");
	check_package("/usr/lib/python3.12/json/decoder.py", "json");
	check_package("/usr/lib/python3.12/threading.py", "threading");
	check_package("/v/lib/python3.8/site-packages/numpy/core/x.py",
		      "numpy");
	check_package("<frozen importlib._bootstrap>", "importlib");
	check_package("<frozen runpy>", "runpy");
	check_package("/venv/bin/pytest", "pytest");
}

static void test_short_paths(void **state)
{
	assert_string_equal(
		origin_short_path("/usr/lib/python3.12/json/decoder.py", 0),
		"json/decoder.py");
	assert_string_equal(
		origin_short_path("/v/lib/python3.8/site-packages/a/b.py", 3),
		"a/b.py");
	assert_string_equal(origin_short_path("/home/u/x/app.py", 8),
			    "x/app.py");
	assert_string_equal(origin_short_path("<string>", 8), "<string>");
	assert_string_equal(origin_short_path("/a", 8), "/a");
	assert_string_equal(origin_short_path("/build/x/src/fast.c", 3),
			    "src/fast.c");
	assert_string_equal(origin_short_path("/fast.rs", 3), "fast.rs");
	assert_string_equal(origin_short_path("../src/fast.c", 3),
			    "../src/fast.c");
	assert_string_equal(origin_short_module("/usr/lib/libc.so.6"),
			    "libc.so.6");
	assert_string_equal(origin_short_module(
				    "/v/lib/python3.8/site-packages/a/b.so"),
			    "a/b.so");
}

static void test_base_is_what_user_files_share(void **state)
{
	struct fake f = fake_begin();
	uint32_t t = fake_thread(&f, 0, 100, "MainThread");

	fake_run(&f, t,
		 fake_stack(&f, "a@/home/u/shop/app.py;"
				"b@/home/u/shop/db/model.py;"
				"c@/usr/lib/python3.12/json/decoder.py;"
				"d@<string>;e@/home/u/shop/db/misc.py"),
		 1);
	fake_open(&f);
	assert_int_equal(origin_base(f.reader), strlen("/home/u/shop/"));
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_library_paths),
		cmocka_unit_test(test_native_libraries),
		cmocka_unit_test(test_headers_are_no_own_code),
		cmocka_unit_test(test_packages),
		cmocka_unit_test(test_short_paths),
		cmocka_unit_test(test_base_is_what_user_files_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
