/* Write a recording: append-only, compressed blocks, valid after any prefix.
 * docs/format.md describes the bytes. Nothing here is thread-safe. */
#ifndef PYROMETER_RECORD_WRITER_H
#define PYROMETER_RECORD_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/model.h"

struct writer;

struct writer_options {
	uint64_t period; /* ns between ticks as asked for; sets the unit in
			  * which ticks are stored (about period / 16) */
	uint64_t start;	 /* clock_now() that is time 0 of the recording */
};

/* Begin a recording on `fd` (a file or a pipe; stays the caller's to close, and
 * whoever gives a pipe ignores SIGPIPE). */
int writer_new(struct writer **out, int fd,
	       const struct writer_options *options, struct error *err);
void writer_free(struct writer *w); /* NULL-safe; does not finish */

/* Define a thing; each returns its id. Functions, frames and nodes are
 * interned: the same thing gives the same id again. Strings are copied. */
uint32_t writer_process(struct writer *w, const struct process_info *info);
uint32_t writer_thread(struct writer *w, const struct thread_info *info);
/* A thread got another name (Python sets names late). */
void writer_thread_name(struct writer *w, uint32_t thread, const char *name);
uint32_t writer_function(struct writer *w, const struct function_info *info);
uint32_t writer_frame(struct writer *w, uint32_t function, uint32_t line);
uint32_t writer_node(struct writer *w, uint32_t parent, uint32_t frame);

/* Native code: an object file, an address in it, and the frame of that
 * address, for writer_node. All are interned; of a module that is known by path
 * and build id, the place in memory stays the one that was given first. */
uint32_t writer_module(struct writer *w, const struct module_info *info);
uint32_t writer_site(struct writer *w, const struct site_info *info);
uint32_t writer_site_frame(struct writer *w, uint32_t site);
/* What is at a site: its function, preceded by the calls that were inlined into
 * it, innermost first, each with the line that is executed there. Kind and
 * module are the site's, unless `module` names another. The first word on a
 * site counts; n of 0 says nothing. */
void writer_symbol(struct writer *w, uint32_t site,
		   const struct function_info *functions, const uint32_t *lines,
		   uint32_t n);
/* Every site that has no symbol yet, in order of id, with its module or NULL.
 * The visitor may call writer_symbol. */
void writer_each_site(struct writer *w, site_visitor *visit, void *context);

/* The end of a process or thread, ns of clock_now(). `status` as wait(2) gives
 * it, -1 if unknown. */
void writer_process_end(struct writer *w, uint32_t process, uint64_t when,
			int status);
void writer_thread_end(struct writer *w, uint32_t thread, uint64_t when);
/* How long the thread has been on a CPU in all, ns; 0: it cannot be told. The
 * first word is where counting begins; each further one is written beside the
 * samples on a CPU that the thread has had since, if there were any. */
void writer_thread_ran(struct writer *w, uint32_t thread, uint64_t ran);
void writer_marker(struct writer *w, const struct marker_info *info);

/* Every file that a function has been defined in, those of Python first. A file
 * of native code may be in several modules: it is shown with each (`function`
 * has no more than file, kind and module) until the visitor returns true. It
 * may call writer_source. */
void writer_each_file(struct writer *w,
		      bool (*visit)(void *context,
				    const struct function_info *function),
		      void *context);

/* The source text of a file that frames name (once per file). */
void writer_source(struct writer *w, const char *file, const void *text,
		   size_t size);

/* Begin a tick at `when` (clock_now(), never going back), then say for each
 * thread that was looked at what was seen. Both are cheap: no allocation, no
 * system call unless a block is full. Of two samples of a thread at the same
 * tick the first one counts. An I/O failure is kept and returned by the next
 * writer_flush or writer_finish. */
void writer_tick(struct writer *w, uint64_t when);
void writer_sample(struct writer *w, uint32_t thread, uint32_t node,
		   uint32_t state);

/* True when a write has failed (full disk, closed pipe): time to stop. */
int writer_failed(const struct writer *w);

/* Replace what is said about the recording; strings are copied. Written with
 * the next flush, but not more often than every five seconds, and at the end.
 */
void writer_info(struct writer *w, const struct recording_info *info);

/* Write out everything up to now, so that a crash loses nothing of it. Called
 * about once a second. */
int writer_flush(struct writer *w, struct error *err);

/* The last blocks: info (with `complete` set), index, end. Nothing may follow.
 */
int writer_finish(struct writer *w, struct error *err);

/* Bytes written so far. */
uint64_t writer_bytes(const struct writer *w);

#endif
