/* Prints where one CPython keeps things, as its own headers say.
 *
 * Compiled to assembly against an interpreter's headers, never run: each row
 * becomes a line ".group.field = number," behind the mark @@, so a cross
 * compiler can tell the layout of a machine that is not here. tools/offsets
 * does that and shapes the lines into a table of src/python/layouts.
 *
 * To add a version: run tools/offsets on its interpreter, mend the rows whose
 * fields moved or were renamed, and keep the output as a new table. */
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>

#define V PY_VERSION_HEX

#if V >= 0x030b0000
#include <internal/pycore_runtime.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_gil.h>
#elif V >= 0x03090000
#include <internal/pycore_runtime.h>
#include <internal/pycore_interp.h>
#elif V >= 0x03080000
#include <internal/pycore_pystate.h>
#elif V >= 0x03070000
#include <internal/mem.h>
#include <internal/pystate.h>
#endif
#if V >= 0x030e0000
#include <internal/pycore_interpframe.h>
#include <internal/pycore_interpframe_structs.h>
#endif
#if V < 0x03000000
#include <stringobject.h>
#endif

#define NUMBER(field, value) \
	__asm__ volatile("\n@@ ." #field " = %c0," : : "i"((long)(value)))
#define WORD(field, word)	 __asm__ volatile("\n@@ ." #field " = " #word ",")
#define ROW(field, type, member) NUMBER(field, offsetof(type, member))
#define NONE(field)		 WORD(field, LAYOUT_NONE)
#define NO_RUNTIME(field)	 WORD(field, LAYOUT_RUNTIME_NONE)

void version(void);
void runtime(void);
void interpreter(void);
void thread(void);
void frame(void);
void code(void);
void objects(void);
void containers(void);
void generator(void);

void version(void)
{
	NUMBER(major, PY_MAJOR_VERSION);
	NUMBER(minor, PY_MINOR_VERSION);
#ifdef Py_GIL_DISABLED
	WORD(free_threaded, true);
#endif
#ifdef Py_DEBUG
	WORD(debug, true);
#endif
#if V >= 0x030d0000
	WORD(frames, FRAME_CURRENT);
#elif V >= 0x030b0000
	WORD(frames, FRAME_CFRAME);
#else
	WORD(frames, FRAME_OBJECTS);
#endif
#if V >= 0x030b0000
	WORD(lines, LINES_LOCATIONS);
	WORD(dicts, DICT_KINDS);
#elif V >= 0x030a0000
	WORD(lines, LINES_PAIRS);
	WORD(dicts, DICT_COMPACT);
#elif V >= 0x03060000
	WORD(lines, LINES_LNOTAB);
	WORD(dicts, DICT_COMPACT);
#else
	WORD(lines, LINES_LNOTAB_UNSIGNED);
	WORD(dicts, DICT_OPEN);
#endif
#if V >= 0x03000000
	WORD(text, TEXT_UNICODE);
#else
	WORD(text, TEXT_BYTES);
#endif
#if V >= 0x030c0000
	WORD(gil_style, GIL_INTERPRETER);
#elif V >= 0x03060000
	WORD(gil_style, GIL_RUNTIME);
#else
	WORD(gil_style, GIL_NONE);
#endif
	NUMBER(code_unit, V >= 0x030a0000 ? 2 : 1);
	NUMBER(object_tag_bits, V >= 0x030e0000 ? 3 : 0);
}

void runtime(void)
{
#if V >= 0x03070000
	ROW(runtime.interpreters_head, _PyRuntimeState, interpreters.head);
	ROW(runtime.main_interpreter, _PyRuntimeState, interpreters.main);
#else
	NO_RUNTIME(runtime.interpreters_head);
	NO_RUNTIME(runtime.main_interpreter);
#endif
#if V >= 0x03090000
	ROW(runtime.finalizing, _PyRuntimeState, _finalizing);
#elif V >= 0x03070000
	ROW(runtime.finalizing, _PyRuntimeState, finalizing);
#else
	NO_RUNTIME(runtime.finalizing);
#endif
#if V >= 0x03070000 && V < 0x030c0000
	ROW(runtime.current, _PyRuntimeState, gilstate.tstate_current);
	ROW(runtime.gil_locked, _PyRuntimeState, ceval.gil.locked);
#else
	NO_RUNTIME(runtime.current);
	NO_RUNTIME(runtime.gil_locked);
#endif
#if V >= 0x03070000 && V < 0x03090000
	ROW(runtime.gc_collecting, _PyRuntimeState, gc.collecting);
#else
	NO_RUNTIME(runtime.gc_collecting);
#endif
}

void interpreter(void)
{
	NUMBER(interpreter.size, sizeof(PyInterpreterState));
	ROW(interpreter.next, PyInterpreterState, next);
#if V >= 0x03070000
	ROW(interpreter.id, PyInterpreterState, id);
#else
	NO_RUNTIME(interpreter.id);
#endif
#if V >= 0x030b0000
	ROW(interpreter.threads_head, PyInterpreterState, threads.head);
#else
	ROW(interpreter.threads_head, PyInterpreterState, tstate_head);
#endif
#if V >= 0x030d0000
	ROW(interpreter.threads_main, PyInterpreterState, threads.main);
#else
	NO_RUNTIME(interpreter.threads_main);
#endif
#if V >= 0x030c0000
	ROW(interpreter.modules, PyInterpreterState, imports.modules);
	ROW(interpreter.gil, PyInterpreterState, ceval.gil);
	ROW(gil.locked, struct _gil_runtime_state, locked);
	ROW(gil.holder, struct _gil_runtime_state, last_holder);
#else
	ROW(interpreter.modules, PyInterpreterState, modules);
	NO_RUNTIME(interpreter.gil);
	NONE(gil.locked);
	NONE(gil.holder);
#endif
#if V >= 0x03090000
	ROW(interpreter.gc_collecting, PyInterpreterState, gc.collecting);
#else
	NO_RUNTIME(interpreter.gc_collecting);
#endif
#if V >= 0x030e0000
	ROW(interpreter.code_generation, PyInterpreterState,
	    _code_object_generation);
#else
	NO_RUNTIME(interpreter.code_generation);
#endif
#if V >= 0x030d0000
	ROW(interpreter.gc, PyInterpreterState, gc);
	ROW(interpreter.gil_state, PyInterpreterState, _gil);
#else
	NO_RUNTIME(interpreter.gc);
	NO_RUNTIME(interpreter.gil_state);
#endif
}

static inline void thread_since_3_11(void)
{
#if V >= 0x030b0000
	ROW(thread.native_thread_id, PyThreadState, native_thread_id);
	ROW(thread.datastack_chunk, PyThreadState, datastack_chunk);
	ROW(thread.datastack_top, PyThreadState, datastack_top);
#else
	NONE(thread.native_thread_id);
	NONE(thread.datastack_chunk);
	NONE(thread.datastack_top);
#endif
#if V >= 0x030c0000
	ROW(thread.status, PyThreadState, _status);
#else
	NONE(thread.status);
#endif
#if V >= 0x030d0000
	ROW(thread.state, PyThreadState, state);
#else
	NONE(thread.state);
#endif
#if V >= 0x030e0000
	ROW(thread.holds_gil, PyThreadState, holds_gil);
#else
	NONE(thread.holds_gil);
#endif
#if V >= 0x030f0000
	ROW(thread.gil_requested, PyThreadState, gil_requested);
	ROW(thread.base_frame, PyThreadState, base_frame);
#else
	NONE(thread.gil_requested);
	NONE(thread.base_frame);
#endif
}

void thread(void)
{
	NUMBER(thread.size, sizeof(PyThreadState));
#if V >= 0x03000000
	ROW(thread.previous, PyThreadState, prev);
#else
	NONE(thread.previous);
#endif
	ROW(thread.next, PyThreadState, next);
	ROW(thread.interpreter, PyThreadState, interp);
#if V >= 0x030d0000
	ROW(thread.frame, PyThreadState, current_frame);
	NONE(cframe.current_frame);
#elif V >= 0x030b0000
	ROW(thread.frame, PyThreadState, cframe);
	ROW(cframe.current_frame, _PyCFrame, current_frame);
#else
	ROW(thread.frame, PyThreadState, frame);
	NONE(cframe.current_frame);
#endif
	ROW(thread.thread_id, PyThreadState, thread_id);
	ROW(thread.dict, PyThreadState, dict);
#if V >= 0x03070000
	ROW(thread.id, PyThreadState, id);
#else
	NONE(thread.id);
#endif
	thread_since_3_11();
}

#if V >= 0x030b0000
static inline void frame_owner(void)
{
	ROW(frame.owner, _PyInterpreterFrame, owner);
	NUMBER(frame.owner_generator, FRAME_OWNED_BY_GENERATOR);
#if V >= 0x030f0000
	NUMBER(frame.owner_cstack, 0xff);
	NUMBER(frame.owner_interpreter, FRAME_OWNED_BY_INTERPRETER);
#elif V >= 0x030e0000
	NUMBER(frame.owner_cstack, FRAME_OWNED_BY_CSTACK);
	NUMBER(frame.owner_interpreter, FRAME_OWNED_BY_INTERPRETER);
#elif V >= 0x030c0000
	NUMBER(frame.owner_cstack, FRAME_OWNED_BY_CSTACK);
	NUMBER(frame.owner_interpreter, 0xff);
#else
	NUMBER(frame.owner_cstack, 0xff);
	NUMBER(frame.owner_interpreter, 0xff);
#endif
}

void frame(void)
{
	ROW(frame.size, _PyInterpreterFrame, localsplus);
	ROW(frame.previous, _PyInterpreterFrame, previous);
	ROW(frame.localsplus, _PyInterpreterFrame, localsplus);
	ROW(frame.frame_object, _PyInterpreterFrame, frame_obj);
	ROW(frame.locals, _PyInterpreterFrame, f_locals);
	frame_owner();
#if V >= 0x030d0000
	ROW(frame.code, _PyInterpreterFrame, f_executable);
	ROW(frame.instruction, _PyInterpreterFrame, instr_ptr);
#else
	ROW(frame.code, _PyInterpreterFrame, f_code);
	ROW(frame.instruction, _PyInterpreterFrame, prev_instr);
#endif
#if V >= 0x030c0000
	ROW(frame.function, _PyInterpreterFrame, f_funcobj);
	NONE(frame.is_entry);
#else
	ROW(frame.function, _PyInterpreterFrame, f_func);
	ROW(frame.is_entry, _PyInterpreterFrame, is_entry);
#endif
#if V >= 0x030e0000
	ROW(frame.stacktop, _PyInterpreterFrame, stackpointer);
#else
	ROW(frame.stacktop, _PyInterpreterFrame, stacktop);
#endif
#if V >= 0x030e0000 && defined(Py_GIL_DISABLED)
	ROW(frame.tlbc_index, _PyInterpreterFrame, tlbc_index);
#else
	NONE(frame.tlbc_index);
#endif
}
#else
void frame(void)
{
	ROW(frame.size, PyFrameObject, f_localsplus);
	ROW(frame.previous, PyFrameObject, f_back);
	ROW(frame.code, PyFrameObject, f_code);
	ROW(frame.instruction, PyFrameObject, f_lasti);
	ROW(frame.localsplus, PyFrameObject, f_localsplus);
	ROW(frame.locals, PyFrameObject, f_locals);
	NONE(frame.owner);
	NONE(frame.is_entry);
	NONE(frame.stacktop);
	NONE(frame.tlbc_index);
	NONE(frame.frame_object);
	NONE(frame.function);
	NUMBER(frame.owner_cstack, 0xff);
	NUMBER(frame.owner_interpreter, 0xff);
	NUMBER(frame.owner_generator, 0xff);
}
#endif

static inline void code_variables(void)
{
#if V >= 0x030b0000
	ROW(code.localsplusnames, PyCodeObject, co_localsplusnames);
	ROW(code.localspluskinds, PyCodeObject, co_localspluskinds);
	NONE(code.varnames);
	NONE(code.cellvars);
	NONE(code.freevars);
#else
	NONE(code.localsplusnames);
	NONE(code.localspluskinds);
	ROW(code.varnames, PyCodeObject, co_varnames);
	ROW(code.cellvars, PyCodeObject, co_cellvars);
	ROW(code.freevars, PyCodeObject, co_freevars);
#endif
}

void code(void)
{
#if V >= 0x030b0000
	ROW(code.size, PyCodeObject, co_code_adaptive);
	ROW(code.qualname, PyCodeObject, co_qualname);
	ROW(code.code, PyCodeObject, co_code_adaptive);
#if V >= 0x030c0000
	ROW(code.version, PyCodeObject, co_version);
#else
	NONE(code.version);
#endif
#else
	NUMBER(code.size, sizeof(PyCodeObject));
	NONE(code.qualname);
	ROW(code.code, PyCodeObject, co_code);
	NONE(code.version);
#endif
	ROW(code.filename, PyCodeObject, co_filename);
	ROW(code.name, PyCodeObject, co_name);
#if V >= 0x030a0000
	ROW(code.linetable, PyCodeObject, co_linetable);
#else
	ROW(code.linetable, PyCodeObject, co_lnotab);
#endif
	ROW(code.firstlineno, PyCodeObject, co_firstlineno);
	ROW(code.argcount, PyCodeObject, co_argcount);
#if V >= 0x03000000
	ROW(code.kwonlyargcount, PyCodeObject, co_kwonlyargcount);
#else
	NONE(code.kwonlyargcount);
#endif
#if V >= 0x03080000
	ROW(code.posonlyargcount, PyCodeObject, co_posonlyargcount);
#else
	NONE(code.posonlyargcount);
#endif
	ROW(code.flags, PyCodeObject, co_flags);
	ROW(code.nlocals, PyCodeObject, co_nlocals);
	code_variables();
#if V >= 0x030e0000 && defined(Py_GIL_DISABLED)
	ROW(code.tlbc, PyCodeObject, co_tlbc);
#else
	NONE(code.tlbc);
#endif
}

void objects(void)
{
	ROW(object.type, PyObject, ob_type);
#ifdef Py_GIL_DISABLED
	ROW(object.refcount, PyObject, ob_ref_local);
#else
	ROW(object.refcount, PyObject, ob_refcnt);
#endif
	NUMBER(object.size, sizeof(PyObject));
	ROW(object.var_size, PyVarObject, ob_size);
	ROW(type.name, PyTypeObject, tp_name);
	ROW(type.basicsize, PyTypeObject, tp_basicsize);
	ROW(type.itemsize, PyTypeObject, tp_itemsize);
	ROW(type.dictoffset, PyTypeObject, tp_dictoffset);
	ROW(type.flags, PyTypeObject, tp_flags);
	ROW(type.base, PyTypeObject, tp_base);
	ROW(type.mro, PyTypeObject, tp_mro);
	ROW(type.cache, PyTypeObject, tp_cache);
#if V >= 0x03000000
	ROW(unicode.length, PyASCIIObject, length);
	ROW(unicode.state, PyASCIIObject, state);
#if V >= 0x030e0000 && defined(Py_GIL_DISABLED)
	NUMBER(unicode.kind_bit, 8);
#else
	NUMBER(unicode.kind_bit, 2);
#endif
	NUMBER(unicode.ascii_data, sizeof(PyASCIIObject));
	NUMBER(unicode.compact_data, sizeof(PyCompactUnicodeObject));
	ROW(unicode.utf8, PyCompactUnicodeObject, utf8);
	ROW(unicode.utf8_length, PyCompactUnicodeObject, utf8_length);
	ROW(unicode.data, PyUnicodeObject, data);
	ROW(bytes.size, PyBytesObject, ob_base.ob_size);
	ROW(bytes.data, PyBytesObject, ob_sval);
#else
	ROW(unicode.length, PyUnicodeObject, length);
	NONE(unicode.state);
	NONE(unicode.kind_bit);
	NONE(unicode.ascii_data);
	NONE(unicode.compact_data);
	NONE(unicode.utf8);
	NONE(unicode.utf8_length);
	ROW(unicode.data, PyUnicodeObject, str);
	ROW(bytes.size, PyStringObject, ob_size);
	ROW(bytes.data, PyStringObject, ob_sval);
#endif
	ROW(floating.value, PyFloatObject, ob_fval);
#if V >= 0x030c0000
	ROW(integer.lv_tag, PyLongObject, long_value.lv_tag);
	ROW(integer.digits, PyLongObject, long_value.ob_digit);
#else
	ROW(integer.lv_tag, PyVarObject, ob_size);
	NUMBER(integer.digits, sizeof(PyVarObject));
#endif
}

/* Before 3.11 the inside of a dict is private to Objects/; those offsets are
 * written here as they stand in dict-common.h. */
static inline void dicts(void)
{
	ROW(dict.used, PyDictObject, ma_used);
#if V >= 0x03060000
	ROW(dict.keys, PyDictObject, ma_keys);
	ROW(dict.values, PyDictObject, ma_values);
	NONE(dict.mask);
#else
	ROW(dict.keys, PyDictObject, ma_table);
	NONE(dict.values);
	ROW(dict.mask, PyDictObject, ma_mask);
#endif
#if V >= 0x030b0000
	ROW(dict.keys_size, PyDictKeysObject, dk_log2_size);
	ROW(dict.keys_index_bytes, PyDictKeysObject, dk_log2_index_bytes);
	ROW(dict.keys_kind, PyDictKeysObject, dk_kind);
	ROW(dict.keys_count, PyDictKeysObject, dk_nentries);
	ROW(dict.keys_indices, PyDictKeysObject, dk_indices);
	ROW(dict.values_data, PyDictValues, values);
#else
	NONE(dict.keys_index_bytes);
	NONE(dict.keys_kind);
#if V >= 0x03060000
	NUMBER(dict.keys_size, 8);
	NUMBER(dict.keys_count, 32);
	NUMBER(dict.keys_indices, 40);
	NUMBER(dict.values_data, 0);
#else
	NONE(dict.keys_size);
	NONE(dict.keys_count);
	NONE(dict.keys_indices);
	NONE(dict.values_data);
#endif
#endif
}

void containers(void)
{
	ROW(tuple.items, PyTupleObject, ob_item);
	ROW(tuple.size, PyVarObject, ob_size);
	ROW(list.items, PyListObject, ob_item);
	ROW(list.size, PyVarObject, ob_size);
	dicts();
	ROW(set.used, PySetObject, used);
	ROW(set.mask, PySetObject, mask);
	ROW(set.table, PySetObject, table);
}

void generator(void)
{
#if V >= 0x030b0000
	ROW(generator.iframe, PyGenObject, gi_iframe);
	NONE(generator.frame);
	ROW(generator.state, PyGenObject, gi_frame_state);
#else
	NONE(generator.iframe);
	ROW(generator.frame, PyGenObject, gi_frame);
#if V >= 0x030a0000
	NONE(generator.state);
#else
	ROW(generator.state, PyGenObject, gi_running);
#endif
#endif
}
