/*
 * Commits the fault that its argument names, or uses everything that it is given to the last byte and nothing else.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrace_arena.h>

static terrace_arena *arena;

static void *use(void *argument) {
    (void)argument;
    for (size_t size = 1; size < 3000; size += 37) {
        char *block = terrace_arena_alloc(arena, size);
        if (block == NULL) {
            abort();
        }
        memset(block, 1, size);
        block = terrace_arena_realloc(arena, block, size, 2 * size);
        memset(block, 2, 2 * size);
        block = terrace_arena_realloc(arena, block, 2 * size, size / 2 + 1);
        memset(block, 3, size / 2 + 1);
        if (size % 2 == 0) {
            terrace_arena_free_last(arena, block, size / 2 + 1);
        }
        char *text = terrace_arena_strdup(arena, "a text");
        if (strlen(text) != 6) {
            abort();
        }
        memset(terrace_arena_alloc_aligned(arena, 33, 128), 4, 33);
    }
    return NULL;
}

static void right(void) {
    for (int round = 0; round < 2; round++) {
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) {
            pthread_create(&threads[i], NULL, use, NULL);
        }
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
        }
        terrace_arena_reset(arena);
    }
    terrace_checkpoint *checkpoint = terrace_arena_checkpoint(arena);
    use(NULL);
    terrace_arena_reset_to(arena, checkpoint);
    terrace_checkpoint_free(checkpoint);
    use(NULL);
    terrace_arena_reset_and_release(arena);
    use(NULL);
    terrace_arena_destroy(arena);
    terrace_trim();
}

int main(int count, char **arguments) {
    const char *fault = count > 1 ? arguments[1] : "";
    terrace_arena_options options = {.size = sizeof options};
    if (count > 2) {
        options.path = (uint32_t)atoi(arguments[2]);
    }
    arena = terrace_arena_create(&options, NULL, 0);
    if (arena == NULL) {
        return 2;
    }
    volatile char *first = terrace_arena_alloc(arena, 20);
    volatile char *second = terrace_arena_alloc(arena, 64);
    first[19] = second[63] = 1;
    fprintf(stderr, "so far right\n");
    if (strcmp(fault, "reset") == 0) {
        terrace_arena_reset(arena);
        second[0] = 2;
    } else if (strcmp(fault, "destroy") == 0) {
        terrace_arena_destroy(arena);
        second[0] = 2;
    } else if (strcmp(fault, "checkpoint") == 0) {
        terrace_checkpoint *checkpoint = terrace_arena_checkpoint(arena);
        volatile char *later = terrace_arena_alloc(arena, 20);
        terrace_arena_reset_to(arena, checkpoint);
        terrace_checkpoint_free(checkpoint);
        first[0] = 2;
        later[0] = 2;
    } else if (strcmp(fault, "end") == 0) {
        first[20] = 2;
    } else if (strcmp(fault, "free") == 0) {
        terrace_arena_free_last(arena, (void *)second, 64);
        return second[0];
    } else if (strcmp(fault, "shrink") == 0) {
        terrace_arena_realloc(arena, (void *)second, 64, 33);
        second[33] = 2;
    } else {
        terrace_arena_reset(arena);
        right();
        return 0;
    }
    return 3;
}
