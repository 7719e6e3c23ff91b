/*
 * Threads count words into lists that live in one arena; then everything is given back at once.
 *
 *   cc words.c $(pkg-config --cflags --libs terrace_arena) -lpthread
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <terrace_arena.h>

struct word {
    struct word *next;
    char text[];
};

static terrace_arena *arena;

static void *collect(void *number) {
    struct word *list = NULL;
    for (int i = 0; i < 100000; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, "%d-%d", (int)(size_t)number, i);
        struct word *word = terrace_arena_alloc(arena, sizeof *word + (size_t)length + 1);
        if (word == NULL) {
            return NULL;
        }
        memcpy(word->text, text, (size_t)length + 1);
        word->next = list;
        list = word;
    }
    return list;
}

int main(void) {
    char reason[256];
    terrace_arena_options options = {.size = sizeof options, .path = TERRACE_PATH_CORE};
    arena = terrace_arena_create(&options, reason, sizeof reason);
    if (arena == NULL) {
        fprintf(stderr, "%s\n", reason);
        return 1;
    }
    for (int round = 0; round < 3; round++) {
        pthread_t threads[4];
        for (size_t i = 0; i < 4; i++) {
            if (pthread_create(&threads[i], NULL, collect, (void *)i) != 0) {
                return 1;
            }
        }
        size_t words = 0;
        for (size_t i = 0; i < 4; i++) {
            void *list;
            pthread_join(threads[i], &list);
            int expected = 100000;
            for (struct word *word = list; word != NULL; word = word->next) {
                char text[32];
                snprintf(text, sizeof text, "%d-%d", (int)i, --expected);
                words += strcmp(text, word->text) == 0;
            }
        }
        terrace_stats stats = {.size = sizeof stats};
        terrace_arena_stats(arena, &stats);
        printf("%zu words in %zu bytes\n", words, stats.used);
        terrace_arena_reset(arena);
    }
    terrace_arena_destroy(arena);
    return 0;
}
