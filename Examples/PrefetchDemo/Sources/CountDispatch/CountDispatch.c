#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CountDispatch.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// The sanitizer intercepts the same functions to learn the order among threads.
#define NOT_COUNTED
#endif
#endif

#if defined(__linux__) && !defined(NOT_COUNTED)

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Declarations of Dispatch, whose headers are not on every path. Objects and blocks are pointers.
typedef void *queue_t;
typedef void *object_t;
typedef void (*function_t)(void *);
extern const char *dispatch_queue_get_label(queue_t queue);

enum { slots = 64, length = 96, empty = 0, changing = 1, counting = 2 };

static struct {
    // `label` is written while this is `changing` and read while it is `counting`.
    _Atomic int state;
    _Atomic int64_t count;
    char label[length];
} counted[slots];
// How many labels are counted. If there are none, calls of Dispatch skip the search.
static _Atomic int active;

bool count_dispatch_is_available(void) { return true; }

int count_dispatch_begin(const char *label) {
    if (strlen(label) >= length) return -1;
    for (int number = 0; number < slots; number++) {
        int expected = empty;
        if (!atomic_compare_exchange_strong(&counted[number].state, &expected, changing)) continue;
        strcpy(counted[number].label, label);
        atomic_store(&counted[number].count, 0);
        atomic_store(&counted[number].state, counting);
        atomic_fetch_add(&active, 1);
        return number;
    }
    return -1;
}

int64_t count_dispatch_value(int number) {
    return number < 0 || number >= slots ? 0 : atomic_load(&counted[number].count);
}

void count_dispatch_end(int number) {
    int expected = counting;
    if (number < 0 || number >= slots) return;
    if (!atomic_compare_exchange_strong(&counted[number].state, &expected, changing)) return;
    atomic_fetch_sub(&active, 1);
    atomic_store(&counted[number].state, empty);
}

static void count(queue_t queue) {
    if (atomic_load_explicit(&active, memory_order_relaxed) == 0) return;
    const char *label = dispatch_queue_get_label(queue);
    for (int number = 0; number < slots; number++) {
        if (atomic_load(&counted[number].state) == counting && strcmp(counted[number].label, label) == 0) {
            atomic_fetch_add(&counted[number].count, 1);
        }
    }
}

// The next definition of the same name, which is Dispatch's. The first call looks it up. Where the
// simulator of ExecutionContextsTesting is linked, its definition precedes Dispatch's.
static void *next(_Atomic(void *) *known, const char *name) {
    void *function = atomic_load_explicit(known, memory_order_acquire);
    if (function != NULL) return function;
    function = dlsym(RTLD_NEXT, name);
    if (function == NULL) {
        fprintf(stderr, "'%s' of Dispatch was not found after this definition. Link Dispatch dynamically.\n", name);
        abort();
    }
    atomic_store_explicit(known, function, memory_order_release);
    return function;
}

#define FORWARD(name, parameters, arguments)                                                                           \
    void name parameters;                                                                                              \
    extern void ecs_own_##name parameters __attribute__((weak));                                                       \
    void name parameters {                                                                                             \
        static _Atomic(void *) known;                                                                                  \
        void(*real) parameters =                                                                                       \
            ecs_own_##name ? ecs_own_##name : (void(*) parameters)next(&known, #name);                                 \
        count(queue);                                                                                                  \
        /* The simulator checks its caller, which must not be this function. */                                        \
        __attribute__((musttail)) return real arguments;                                                               \
    }

FORWARD(dispatch_async, (queue_t queue, void *block), (queue, block))
FORWARD(dispatch_async_f, (queue_t queue, void *context, function_t work), (queue, context, work))
FORWARD(dispatch_barrier_async, (queue_t queue, void *block), (queue, block))
FORWARD(dispatch_barrier_async_f, (queue_t queue, void *context, function_t work), (queue, context, work))
FORWARD(dispatch_sync, (queue_t queue, void *block), (queue, block))
FORWARD(dispatch_sync_f, (queue_t queue, void *context, function_t work), (queue, context, work))
FORWARD(dispatch_barrier_sync, (queue_t queue, void *block), (queue, block))
FORWARD(dispatch_barrier_sync_f, (queue_t queue, void *context, function_t work), (queue, context, work))
FORWARD(dispatch_async_and_wait, (queue_t queue, void *block), (queue, block))
FORWARD(dispatch_barrier_async_and_wait, (queue_t queue, void *block), (queue, block))
FORWARD(dispatch_group_async, (object_t group, queue_t queue, void *block), (group, queue, block))
FORWARD(dispatch_group_async_f, (object_t group, queue_t queue, void *context, function_t work),
        (group, queue, context, work))
FORWARD(dispatch_after, (uint64_t when, queue_t queue, void *block), (when, queue, block))
FORWARD(dispatch_after_f, (uint64_t when, queue_t queue, void *context, function_t work), (when, queue, context, work))

#else

bool count_dispatch_is_available(void) { return false; }
int count_dispatch_begin(const char *label) {
    (void)label;
    return -1;
}
int64_t count_dispatch_value(int number) {
    (void)number;
    return 0;
}
void count_dispatch_end(int number) { (void)number; }

#endif
