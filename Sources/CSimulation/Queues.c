#ifdef __linux__
#define _GNU_SOURCE
#include "Interposition.h"

#include <dlfcn.h>

// Dispatch queues. In a simulation the queue itself gets no job: the simulation keeps the jobs, and
// runs them on simulated threads. The queue keeps its label, its target, its keys, and whether it
// is suspended.

typedef void *object;
typedef void call(void *context);
enum { code_at = 2, at_once = 0 };

static void *block_function(void **known, const char *name) {
    void *function = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!function) {
        function = dlsym(RTLD_DEFAULT, name);
        __atomic_store_n(known, function, __ATOMIC_RELAXED);
    }
    return function;
}

static void free_block(void *block) {
    static void *known;
    ((void (*)(const void *))block_function(&known, "_Block_release"))(block);
}

void ecs_perform(ecs_dispatch_job job) {
    object inside = job.is_block ? ecs_item_group(job.context) : NULL;
    job.function(job.context);
    const ecs_simulator *simulator = inside ? ecs_for_dispatch(NULL) : NULL;
    if (simulator) simulator->did_run_item(ecs_current(), (ecs_counter){inside, true});
    if (job.is_block) free_block(job.context);
    if (!job.group) return;
    ecs_leave_group((object)job.group, NULL);
    ecs_dispatch_release(job.group);
}

void ecs_discard(ecs_dispatch_job job) {
    if (job.is_block) free_block(job.context);
    if (!job.group) return;
    ecs_give_back((ecs_counter){job.group, true});
    ecs_dispatch_release(job.group);
}

// The thread sanitizer interposes its own functions for these, which must see each use.
#if !__has_feature(thread_sanitizer)
// Defines a function of Dispatch, also under another name: a program that defines the function
// itself may forward to this one.
#define INTERPOSE(result, name, parameters)                                                    \
    result ecs_own_##name parameters;                                                          \
    __attribute__((weak, alias("ecs_own_" #name))) result name parameters;                     \
    result ecs_own_##name parameters
#define REAL(type, name) static void *known; __typeof__(type) *real = (__typeof__(type) *)ecs_original(&known, #name, NULL)
#define CALLER __builtin_return_address(0)

static call *code_of(void *block) { return ((call **)block)[code_at]; }

// A job that runs later retains what it needs.
static ecs_dispatch_job kept(object queue, void *block, bool is_barrier, object group) {
    static void *known;
    void *copy = ((void *(*)(const void *))block_function(&known, "_Block_copy"))(block);
    if (group) ecs_dispatch_retain(group);
    is_barrier = is_barrier || ecs_item_is_barrier(copy);
    return (ecs_dispatch_job){queue, code_of(copy), copy, group, true, is_barrier};
}

static ecs_dispatch_job kept_call(object queue, void *context, call *function, bool is_barrier, object group) {
    if (group) ecs_dispatch_retain(group);
    return (ecs_dispatch_job){queue, function, context, group, false, is_barrier};
}

static const ecs_simulator *simulator_for(object queue, const void *caller) {
    return ecs_is_system(caller) ? NULL : ecs_for_dispatch(queue);
}

// MARK: Jobs that run later

typedef void submit_block(object queue, void *block);
typedef void submit_call(object queue, void *context, call *function);

#define SUBMITTER(name, is_barrier)                                                                       \
    INTERPOSE(void, name, (object queue, void *block)) {                                                  \
        REAL(submit_block, name);                                                                         \
        const ecs_simulator *simulator = simulator_for(queue, CALLER);                                    \
        if (!simulator) return real(queue, block);                                                        \
        simulator->submit(ecs_current(), kept(queue, block, is_barrier, NULL), at_once);                  \
    }                                                                                                     \
    INTERPOSE(void, name##_f, (object queue, void *context, call *function)) {                            \
        REAL(submit_call, name##_f);                                                                      \
        const ecs_simulator *simulator = simulator_for(queue, CALLER);                                    \
        if (!simulator) return real(queue, context, function);                                            \
        simulator->submit(ecs_current(), kept_call(queue, context, function, is_barrier, NULL), at_once); \
    }

SUBMITTER(dispatch_async, false)
SUBMITTER(dispatch_barrier_async, true)

typedef void after_block(uint64_t time, object queue, void *block);
typedef void after_call(uint64_t time, object queue, void *context, call *function);

INTERPOSE(void, dispatch_after, (uint64_t time, object queue, void *block)) {
    REAL(after_block, dispatch_after);
    const ecs_simulator *simulator = simulator_for(queue, CALLER);
    if (!simulator) return real(time, queue, block);
    simulator->submit(ecs_current(), kept(queue, block, false, NULL), time);
}

INTERPOSE(void, dispatch_after_f, (uint64_t time, object queue, void *context, call *function)) {
    REAL(after_call, dispatch_after_f);
    const ecs_simulator *simulator = simulator_for(queue, CALLER);
    if (!simulator) return real(time, queue, context, function);
    simulator->submit(ecs_current(), kept_call(queue, context, function, false, NULL), time);
}

typedef void group_block(object group, object queue, void *block);
typedef void group_call(object group, object queue, void *context, call *function);

INTERPOSE(void, dispatch_group_async, (object group, object queue, void *block)) {
    REAL(group_block, dispatch_group_async);
    const ecs_simulator *simulator = simulator_for(queue, CALLER);
    if (!simulator) return real(group, queue, block);
    ecs_enter_group(group, CALLER);
    simulator->submit(ecs_current(), kept(queue, block, false, group), at_once);
}

INTERPOSE(void, dispatch_group_async_f, (object group, object queue, void *context, call *function)) {
    REAL(group_call, dispatch_group_async_f);
    const ecs_simulator *simulator = simulator_for(queue, CALLER);
    if (!simulator) return real(group, queue, context, function);
    ecs_enter_group(group, CALLER);
    simulator->submit(ecs_current(), kept_call(queue, context, function, false, group), at_once);
}

// Whether the simulation runs the job when the group is empty. Otherwise it has freed its copy, and
// Dispatch runs the job, outside.
static bool notifies(const ecs_simulator *simulator, object group, ecs_dispatch_job job) {
    if (simulator->notify(ecs_current(), (ecs_counter){group, true}, job)) return true;
    ecs_will_give_away(ecs_queue_label(job.queue));
    return false;
}

INTERPOSE(void, dispatch_group_notify, (object group, object queue, void *block)) {
    REAL(group_block, dispatch_group_notify);
    const ecs_simulator *simulator = simulator_for(queue, CALLER);
    if (!simulator) return real(group, queue, block);
    if (!notifies(simulator, group, kept(queue, block, false, NULL))) real(group, queue, block);
}

INTERPOSE(void, dispatch_group_notify_f, (object group, object queue, void *context, call *function)) {
    REAL(group_call, dispatch_group_notify_f);
    const ecs_simulator *simulator = simulator_for(queue, CALLER);
    if (!simulator || !notifies(simulator, group, kept_call(queue, context, function, false, NULL)))
        real(group, queue, context, function);
}

// A notification after a work item, which leaves the group inside it.
INTERPOSE(void, dispatch_block_notify, (void *item, object queue, void *block)) {
    REAL(group_block, dispatch_block_notify);
    object inside = ecs_item_group(item);
    const ecs_simulator *simulator = inside ? simulator_for(queue, CALLER) : NULL;
    if (!simulator) return real(item, queue, block);
    ecs_counter group = {inside, true};
    simulator->will_wait_for_item(ecs_current(), group);
    simulator->notify(ecs_current(), group, kept(queue, block, false, NULL));
}

// MARK: Jobs that the caller waits for

#define RUNNER(name, is_barrier)                                                                   \
    INTERPOSE(void, name, (object queue, void *block)) {                                           \
        REAL(submit_block, name);                                                                  \
        const ecs_simulator *simulator = simulator_for(queue, CALLER);                             \
        if (!simulator) return real(queue, block);                                                 \
        bool alone = is_barrier || ecs_item_is_barrier(block);                                     \
        simulator->run_in_queue(                                                                   \
            ecs_current(), (ecs_dispatch_job){queue, code_of(block), block, NULL, true, alone});   \
    }                                                                                              \
    INTERPOSE(void, name##_f, (object queue, void *context, call *function)) {                     \
        REAL(submit_call, name##_f);                                                               \
        const ecs_simulator *simulator = simulator_for(queue, CALLER);                             \
        if (!simulator) return real(queue, context, function);                                     \
        simulator->run_in_queue(                                                                   \
            ecs_current(), (ecs_dispatch_job){queue, function, context, NULL, false, is_barrier}); \
    }

RUNNER(dispatch_sync, false)
RUNNER(dispatch_barrier_sync, true)
RUNNER(dispatch_async_and_wait, false)
RUNNER(dispatch_barrier_async_and_wait, true)

static void call_block(void *block, size_t index) {
    ((void (**)(void *, size_t))block)[code_at](block, index);
}

INTERPOSE(void, dispatch_apply, (size_t count, object queue, void *block)) {
    REAL(void(size_t, object, void *), dispatch_apply);
    const ecs_simulator *simulator = simulator_for(NULL, CALLER);
    if (!simulator) return real(count, queue, block);
    simulator->apply(ecs_current(), count, queue, block, call_block);
}

INTERPOSE(void, dispatch_apply_f, (size_t count, object queue, void *context, void (*function)(void *, size_t))) {
    REAL(void(size_t, object, void *, void (*)(void *, size_t)), dispatch_apply_f);
    const ecs_simulator *simulator = simulator_for(NULL, CALLER);
    if (!simulator) return real(count, queue, context, function);
    simulator->apply(ecs_current(), count, queue, context, function);
}
#endif
#endif
