/*
 * A libnuma.so.1 for HotSpot that has two nodes: the CPUs that TERRACE_SECOND lists are on the second one, all others on the first. HotSpot then
 * lays out its heap by nodes, as on a machine that has them (numa(3); os::Linux::libnuma_init). In C, because HotSpot asks for versions of symbols, and rustc
 * has a script of its own for these.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { NODES = 2, BITS = 8 * sizeof(unsigned long) };
/* Bytes of neighbouring memory on one node. */
enum { STRIPE = 2 << 20 };

struct bitmask {
    unsigned long size; /* in bits */
    unsigned long *maskp;
};

static unsigned long both_words = 3, no_words;
static struct bitmask both = {BITS, &both_words}, none = {BITS, &no_words};
struct bitmask *numa_all_nodes_ptr = &both, *numa_nodes_ptr = &both;

int numa_available(void) { return 0; }
int numa_max_node(void) { return NODES - 1; }
int numa_num_configured_nodes(void) { return NODES; }
int numa_distance(int one, int other) { return one == other ? 10 : 20; }
struct bitmask *numa_get_membind(void) { return &both; }
struct bitmask *numa_get_run_node_mask(void) { return &both; }
struct bitmask *numa_get_interleave_mask(void) { return &none; }

/* Whether a list of numbers, with commas between them, has this one. */
static int has(const char *list, long wanted) {
    while (list && *list) {
        char *end;
        if (strtol(list, &end, 10) == wanted)
            return 1;
        list = *end ? end + 1 : end;
    }
    return 0;
}

/* HotSpot has room for the CPUs that are configured. */
int numa_node_to_cpus(int node, struct bitmask *mask) {
    const char *second = getenv("TERRACE_SECOND");
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (unsigned long word = 0; word < mask->size / BITS; word++)
        mask->maskp[word] = 0;
    for (long cpu = 0; cpu < cpus; cpu++)
        if (has(second, cpu) == node)
            mask->maskp[cpu / BITS] |= 1UL << cpu % BITS;
    return 0;
}

int numa_bitmask_isbitset(const struct bitmask *mask, unsigned int bit) {
    return bit < mask->size && mask->maskp[bit / BITS] >> bit % BITS & 1;
}

int numa_bitmask_equal(const struct bitmask *one, const struct bitmask *other) {
    for (unsigned int bit = 0; bit < NODES; bit++)
        if (numa_bitmask_isbitset(one, bit) != numa_bitmask_isbitset(other, bit))
            return 0;
    return 1;
}

/* Only asks where pages are. */
int numa_move_pages(int pid, unsigned long count, void **pages, const int *nodes, int *status, int flags) {
    (void)pid, (void)nodes, (void)flags;
    for (unsigned long at = 0; at < count; at++)
        status[at] = (uintptr_t)pages[at] / STRIPE % NODES;
    return 0;
}

void numa_tonode_memory(void *from, size_t bytes, int node) { (void)from, (void)bytes, (void)node; }
void numa_interleave_memory(void *from, size_t bytes, struct bitmask *mask) { (void)from, (void)bytes, (void)mask; }
void numa_set_bind_policy(int strict) { (void)strict; }
void numa_set_preferred(int node) { (void)node; }
