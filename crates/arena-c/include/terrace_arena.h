/*
 * Terrace: the arena. A bump allocator that many threads share.
 *
 * Memory lives until the arena is reset or destroyed; only the last block of a buffer is given back by itself.
 *
 * Threads: alloc, alloc_aligned, realloc, realloc_aligned, free_last, strdup, printf, stats and fallback may be called by any thread at any
 * time. reset, reset_and_release, checkpoint, reset_to and destroy want the arena alone: the caller sees to it that nobody uses it meanwhile,
 * nor its memory afterwards. After fork() a child of a program with threads has an arena of its own, and may go on.
 *
 * Signal handlers: alloc and alloc_aligned are async-signal-safe with TERRACE_PATH_CORE, no zeroing and a reserve (which is mapped when the
 * arena is made; a limit may not be). They are not with thread buffers, the default: a handler in the middle of an allocation would be given the same
 * bytes. No other function is.
 *
 * A shared object that this library is linked into statically stays loaded after dlclose() once it has made an arena: the kernel looks at
 * restartable sequences after the last call.
 *
 * Generated from crates/arena-c by cbindgen; do not change it by hand.
 */

#ifndef TERRACE_ARENA_H
#define TERRACE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The kind of pages.
typedef enum terrace_pages {
  // Small pages.
  TERRACE_PAGES_SMALL,
  // Transparent huge pages.
  TERRACE_PAGES_TRANSPARENT,
  // Huge pages of 2 MB from their pool.
  TERRACE_PAGES_HUGE2M,
  // Huge pages of 1 GB from their pool.
  TERRACE_PAGES_HUGE1G,
} terrace_pages;

// Which way to a buffer is taken first.
typedef enum terrace_path {
  // The arena's choice: thread buffers.
  TERRACE_PATH_AUTO,
  // Thread buffers: the fastest, and memory for every thread.
  TERRACE_PATH_THREAD,
  // Core buffers only: memory for every core, whatever the number of threads.
  TERRACE_PATH_CORE,
} terrace_path;

// When memory is made zero.
typedef enum terrace_zeroing {
  // Never: memory holds what was there before, of this arena or of an earlier one.
  TERRACE_ZEROING_NONE,
  // A whole buffer at once.
  TERRACE_ZEROING_AT_REFILL,
  // Each allocation by itself.
  TERRACE_ZEROING_AT_ALLOCATION,
} terrace_zeroing;

// An arena.
typedef struct terrace_arena terrace_arena;

// A place in an arena's life to go back to.
typedef struct terrace_checkpoint terrace_checkpoint;

// How an arena is made. All zeros is a good choice.
typedef struct terrace_arena_options {
  // `sizeof (terrace_arena_options)`, so that a later version of the library knows which fields there are; 0 is that of version 0.1.
  size_t size;
  // One range of address space in bytes, which costs no memory until it is written to; 0: a limit of up to 64 GB, if the process may have so
  // much, otherwise the arena grows from 64 KB, to the limit or to 128 GB.
  size_t reserve;
  // The most bytes that are handed out; 0 is the reserve, or what it grows to.
  size_t limit;
  // The kind of pages, one of `terrace_pages`; what cannot be had is replaced by the next smaller kind.
  uint32_t pages;
  // Which way to a buffer is taken first, one of `terrace_path`.
  uint32_t path;
  // When memory is made zero, one of `terrace_zeroing`.
  uint32_t zeroing;
  // Not 0: finds memory for the whole reserve or limit now, of which one has to be given: it is one range then, however large it is.
  uint8_t pre_touch;
  // The largest thread buffer in bytes; 0 is the arena's choice.
  size_t thread_buffer;
  // A core's buffer in bytes; 0 is the arena's choice.
  size_t core_buffer;
  // A processor's buffer in bytes; 0 is none.
  size_t processor_buffer;
} terrace_arena_options;

// What an arena holds, in bytes.
typedef struct terrace_stats {
  // `sizeof (terrace_stats)`, written by the caller: no more is answered than it has room for.
  size_t size;
  // Address space that is mapped.
  size_t reserved;
  // What may be handed out.
  size_t limit;
  // What buffers and large objects have taken of it since the last reset.
  size_t used;
  // Whether core buffers are used in restartable sequences, without a locked instruction.
  bool restartable;
} terrace_stats;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes an arena; `options` may be NULL. On failure NULL, and the reason with its remedy as a text in `reason` (at most
// `reason_length` bytes with the final 0), unless that is NULL.
//
// # Safety
// `options` is NULL or points to options; `reason` is NULL or points to `reason_length` bytes.
struct terrace_arena *terrace_arena_create(const struct terrace_arena_options *options,
                                           char *reason,
                                           size_t reason_length);

// Gives an arena and all of its memory back. NULL does nothing.
//
// # Safety
// `arena` is NULL or from `terrace_arena_create`, is not used any more, and neither is its memory.
void terrace_arena_destroy(struct terrace_arena *arena);

// `size` bytes at a multiple of 16, or NULL when the arena has not so many left. `size` may be 0.
//
// # Safety
// `arena` is from `terrace_arena_create` and not destroyed.
void *terrace_arena_alloc(const struct terrace_arena *arena, size_t size);

// `size` bytes at a multiple of `align`, a power of two; NULL when the arena has not so many left, or `align` is none.
//
// # Safety
// As for `terrace_arena_alloc`.
void *terrace_arena_alloc_aligned(const struct terrace_arena *arena, size_t size, size_t align);

// Takes everything back, in a time that does not depend on how much was handed out.
//
// # Safety
// As for `terrace_arena_alloc`; nobody else uses the arena meanwhile, nor its memory afterwards.
void terrace_arena_reset(struct terrace_arena *arena);

// Takes everything back and gives the memory to the kernel; false when the kernel does not take it.
//
// # Safety
// As for `terrace_arena_reset`.
bool terrace_arena_reset_and_release(struct terrace_arena *arena);

// A place to go back to; free it with `terrace_checkpoint_free`.
//
// # Safety
// As for `terrace_arena_alloc`; nobody else uses the arena meanwhile.
struct terrace_checkpoint *terrace_arena_checkpoint(struct terrace_arena *arena);

// Takes everything back that was handed out after the checkpoint.
//
// # Safety
// As for `terrace_arena_reset`, for what was handed out after it; the checkpoint is this arena's.
void terrace_arena_reset_to(struct terrace_arena *arena, const struct terrace_checkpoint *to);

// Frees a checkpoint; the arena stays as it is. NULL does nothing.
//
// # Safety
// `checkpoint` is NULL or from `terrace_arena_checkpoint`, and not used any more.
void terrace_checkpoint_free(struct terrace_checkpoint *checkpoint);

// What the arena could not have as it was asked for, and how it is used instead, each with its reason: smaller pages than those asked for, core
// buffers without restartable sequences. At most `length` bytes with the final 0, unless `text` is NULL; how long the whole text is, 0 if there is
// nothing to tell.
//
// # Safety
// As for `terrace_arena_alloc`; `text` is NULL or points to `length` bytes.
size_t terrace_arena_fallback(const struct terrace_arena *arena, char *text, size_t length);

// What the arena holds.
//
// # Safety
// As for `terrace_arena_alloc`; `stats` points to a place for the answer, whose `size` says how large it is.
void terrace_arena_stats(const struct terrace_arena *arena, struct terrace_stats *stats);

// `old_size` bytes of this arena become `new_size` bytes at a multiple of 16: where they are if they are there already, and are the last ones of
// their buffer or become fewer; otherwise in another place, with what they hold. NULL when the arena has not so many left; then `place` stays as it is.
// `place` may be NULL. What has to stay at a multiple of more than 16 needs `terrace_arena_realloc_aligned`.
//
// # Safety
// As for `terrace_arena_alloc`; `place` is NULL or from this arena, with this size, and is not used any more.
void *terrace_arena_realloc(const struct terrace_arena *arena, void *place, size_t old_size, size_t new_size);

// The same at a multiple of `align`, a power of two, wherever `place` is; NULL also when `align` is none.
//
// # Safety
// As for `terrace_arena_realloc`.
void *terrace_arena_realloc_aligned(const struct terrace_arena *arena,
                                    void *place,
                                    size_t old_size,
                                    size_t new_size,
                                    size_t align);

// Gives `size` bytes back if they are the last ones of their buffer; otherwise they stay until the next reset. `place` may be NULL.
//
// # Safety
// As for `terrace_arena_realloc`.
void terrace_arena_free_last(const struct terrace_arena *arena, void *place, size_t size);

// A copy of a text, with its final 0; NULL when the arena has too few bytes left.
//
// # Safety
// As for `terrace_arena_alloc`; `text` ends with a 0.
char *terrace_arena_strdup(const struct terrace_arena *arena, const char *text);

// Gives the memory back to the kernel that is kept for arenas to come; how many bytes it was.
size_t terrace_trim(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#ifndef TERRACE_ARENA_NO_PRINTF
#include <stdio.h>

/* What printf would print, as a text in the arena; NULL when the arena has too few bytes left, or the format is wrong. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3), unused))
#endif
static inline char *terrace_arena_printf(const struct terrace_arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : (char *)terrace_arena_alloc(arena, (size_t)length + 1);
    if (text != NULL) {
        va_start(arguments, format);
        vsnprintf(text, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    return text;
}
#endif

#endif  /* TERRACE_ARENA_H */
