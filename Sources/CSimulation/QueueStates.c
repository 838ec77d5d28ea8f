#ifdef __linux__
#define _GNU_SOURCE
#include "Interposition.h"

#include <stdio.h>

// Queries and changes of Dispatch queues, except their jobs.

typedef void *object;

// The thread sanitizer interposes its own functions for these, which must see each use.
#if !__has_feature(thread_sanitizer)
#define INTERPOSE __attribute__((weak))
#define REAL(type, name) static void *known; __typeof__(type) *real = (__typeof__(type) *)ecs_original(&known, #name, NULL)
#define CALLER __builtin_return_address(0)

// MARK: Making queues

INTERPOSE object dispatch_queue_create(const char *label, object attributes) {
    REAL(object(const char *, object), dispatch_queue_create);
    object made = real(label, attributes);
    ecs_did_make_queue(made, ecs_is_system(CALLER));
    return made;
}

INTERPOSE object dispatch_queue_create_with_target(const char *label, object attributes, object target) {
    REAL(object(const char *, object, object), dispatch_queue_create_with_target);
    object made = real(label, attributes, target);
    ecs_did_make_queue(made, ecs_is_system(CALLER));
    return made;
}

// Dispatch itself creates the group of a work item.
static void *made_item(void *item) {
    void *group = item ? ecs_item_group(item) : NULL;
    if (group) ecs_did_make_item(group);
    return item;
}

INTERPOSE void *dispatch_block_create(uintptr_t flags, void *block) {
    REAL(void *(uintptr_t, void *), dispatch_block_create);
    return made_item(real(flags, block));
}

INTERPOSE void *dispatch_block_create_with_qos_class(uintptr_t flags, unsigned kind, int priority, void *block) {
    REAL(void *(uintptr_t, unsigned, int, void *), dispatch_block_create_with_qos_class);
    return made_item(real(flags, kind, priority, block));
}

// MARK: Changing queues and work items

// An access that other threads could see, and a scheduling point.
static const ecs_simulator *will_touch(object touched, const void *caller) {
    const ecs_simulator *simulator = ecs_is_system(caller) ? NULL : ecs_for_dispatch(NULL);
    if (simulator) simulator->will_touch(ecs_current(), touched);
    return simulator;
}

typedef void change(object changed);

#define CHANGER(name)                                                                          \
    INTERPOSE void name(object changed) {                                                      \
        REAL(change, name);                                                                    \
        const ecs_simulator *simulator = will_touch(changed, CALLER);                          \
        real(changed);                                                                         \
        if (simulator) simulator->did_change_queue(ecs_current(), changed);                    \
    }

CHANGER(dispatch_suspend)
CHANGER(dispatch_resume)
CHANGER(dispatch_activate)

INTERPOSE void dispatch_set_target_queue(object queue, object target) {
    REAL(void(object, object), dispatch_set_target_queue);
    const ecs_simulator *simulator = will_touch(queue, CALLER);
    real(queue, target);
    if (simulator) simulator->did_change_queue(ecs_current(), queue);
}

INTERPOSE void dispatch_block_cancel(void *block) {
    REAL(void(void *), dispatch_block_cancel);
    will_touch(block, CALLER);
    real(block);
}

INTERPOSE intptr_t dispatch_block_testcancel(void *block) {
    REAL(intptr_t(void *), dispatch_block_testcancel);
    will_touch(block, CALLER);
    return real(block);
}

// MARK: The current queue

static const void *queue_at(size_t depth, bool *is_exclusive) {
    const ecs_simulator *simulator = ecs_current() ? ecs_for_dispatch(NULL) : NULL;
    return simulator ? simulator->queue_at(ecs_current(), depth, is_exclusive) : NULL;
}

// Whether the calling thread runs a job of a queue, or of one whose jobs run in it.
static bool is_in(const void *queue, bool alone) {
    bool is_exclusive;
    const void *own;
    for (size_t depth = 0; (own = queue_at(depth, &is_exclusive)); depth++)
        for (const void *at = own; at; at = ecs_queue_target(at))
            if (at == queue) return !alone || ecs_queue_is_serial(at) || (at == own && is_exclusive);
    return false;
}

INTERPOSE void dispatch_assert_queue(object queue) {
    REAL(change, dispatch_assert_queue);
    if (!is_in(queue, false)) real(queue);
}

INTERPOSE void dispatch_assert_queue_barrier(object queue) {
    REAL(change, dispatch_assert_queue_barrier);
    if (!is_in(queue, true)) real(queue);
}

INTERPOSE void dispatch_assert_queue_not(object queue) {
    REAL(change, dispatch_assert_queue_not);
    if (!is_in(queue, false)) return real(queue);
    fprintf(stderr, "Assertion failed: Block was expected not to execute on queue [%s]\n", ecs_queue_label(queue));
    __builtin_trap();
}

INTERPOSE void *dispatch_get_specific(const void *key) {
    REAL(void *(const void *), dispatch_get_specific);
    static void *known_of_queue;
    typedef void *function(const void *, const void *);
    function *of_queue = (function *)ecs_original(&known_of_queue, "dispatch_queue_get_specific", NULL);
    bool is_exclusive;
    for (const void *at = queue_at(0, &is_exclusive); at && !ecs_queue_is_global(at); at = ecs_queue_target(at)) {
        void *value = of_queue(at, key);
        if (value) return value;
    }
    return real(key);
}

INTERPOSE const char *dispatch_queue_get_label(object queue) {
    REAL(const char *(const void *), dispatch_queue_get_label);
    bool is_exclusive;
    // No queue means the current one.
    const void *own = queue ? NULL : queue_at(0, &is_exclusive);
    return real(own ? own : queue);
}

// MARK: Work outside of a simulation

static void give_away(const char *name, const void *caller) {
    if (!ecs_is_system(caller) && ecs_for_dispatch(NULL)) ecs_will_give_away(name);
}

INTERPOSE object dispatch_source_create(const void *kind, uintptr_t handle, uintptr_t mask, object queue) {
    REAL(object(const void *, uintptr_t, uintptr_t, object), dispatch_source_create);
    give_away("a source of Dispatch", CALLER);
    return real(kind, handle, mask, queue);
}

INTERPOSE object dispatch_io_create(uintptr_t kind, int file, object queue, void *block) {
    REAL(object(uintptr_t, int, object, void *), dispatch_io_create);
    give_away("a channel of Dispatch", CALLER);
    return real(kind, file, queue, block);
}

INTERPOSE object dispatch_io_create_with_path(
    uintptr_t kind, const char *path, int flags, unsigned mode, object queue, void *block) {
    REAL(object(uintptr_t, const char *, int, unsigned, object, void *), dispatch_io_create_with_path);
    give_away("a channel of Dispatch", CALLER);
    return real(kind, path, flags, mode, queue, block);
}

INTERPOSE void dispatch_read(int file, size_t length, object queue, void *block) {
    REAL(void(int, size_t, object, void *), dispatch_read);
    give_away("the input of Dispatch", CALLER);
    real(file, length, queue, block);
}

INTERPOSE void dispatch_write(int file, object data, object queue, void *block) {
    REAL(void(int, object, object, void *), dispatch_write);
    give_away("the output of Dispatch", CALLER);
    real(file, data, queue, block);
}
#endif
#endif
