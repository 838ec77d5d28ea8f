#include "Interposition.h"

#include <CAccesses.h>

#include <stdlib.h>

#include <stddef.h>

// The runtime's hooks, as its headers declare them.
typedef SWIFT_CALL void enqueue(void *job);
typedef SWIFT_CALL void enqueue_with_delay(uint64_t nanoseconds, void *job);
extern SWIFT_CALL void (*swift_task_enqueueGlobal_hook)(void *job, enqueue *original);
extern SWIFT_CALL void (*swift_task_enqueueGlobalWithDelay_hook)(uint64_t, void *, enqueue_with_delay *);
extern ecs_switch swift_task_switch;
// Weak: runtimes older than Swift 6.0 have no task executors, and those older than 6.2 no names.
extern SWIFT_CALL ecs_executor swift_task_getPreferredTaskExecutor(void) __attribute__((weak));
extern SWIFT_CALL const char *swift_task_getCurrentTaskName(void) __attribute__((weak));
extern void *swift_retain(void *object);
extern void swift_release(void *object);
extern size_t swift_retainCount(void *object);

// A job that drains an actor: the actor's word in it, and the word of the first job in the actor. A
// job that resumes a task, as Task.yield makes one: the task's word in it.
enum { actor_at = 8, first_job_at = 5, resumed_at = 9 };
enum { kind_mask = 0xff, kind_task = 0, kind_drain = 193, kind_resumption = 195 };
enum { is_running = 0x800, has_ended = 0x2000 };
// How many words of a task are read at once: up to its context. How many callers are reported.
enum { words_read = 9, most_callers = 4 };

static ECS_THREAD_LOCAL void *current;
// The executor that the task needs, while the runtime enqueues it on `suspending_executor`.
static ECS_THREAD_LOCAL ecs_executor intended_executor;
static ecs_executor suspending_executor;
// The actor whose drain runs, and the function that its job would have run.
static ECS_THREAD_LOCAL void *draining;
static ECS_THREAD_LOCAL ecs_resume *drained_resume;
static ecs_simulator simulator;
// Where the frames of the simulation's jobs end on this thread's stack.
static ECS_THREAD_LOCAL uintptr_t base;

void ecs_set_current(void *simulation) {
    current = simulation;
    base = (uintptr_t)__builtin_frame_address(0);
}

void *ecs_swap_current(void *simulation) {
    void *before = current;
    current = simulation;
    return before;
}

// How many static variables this thread is making.
static ECS_THREAD_LOCAL int once_depth;
// What it accesses is its own: other threads of the simulation do not run.
void ecs_enter_once(void) {
    once_depth++;
    ecs_accesses_pause();
}
void ecs_leave_once(void) {
    ecs_accesses_resume();
    once_depth--;
}
bool ecs_is_making_static(void) { return once_depth > 0; }

void ecs_enqueue_outside(void *job, ecs_executor executor) {
    void *own = ecs_swap_current(NULL);
    swift_task_enqueue(job, executor);
    ecs_swap_current(own);
}

bool ecs_waits(void) { return current && simulator.waits(current); }

ecs_end ecs_wait(ecs_lock lock, int64_t deadline) {
    return current ? simulator.wait(current, lock, deadline) : ecs_not_waited;
}

void ecs_did_signal(ecs_lock condition, bool to_all) {
    if (current) simulator.did_signal(current, condition, to_all);
}

void ecs_did_create(const void *task, const void *context, const void *frame) {
    if (!current || once_depth) return;
    uintptr_t callers[most_callers];
    size_t count = 0;
    uintptr_t lowest = (uintptr_t)frame;
    for (uintptr_t at = lowest; count < most_callers && at >= lowest && at < base && !(at & 7);) {
        // The second word of a frame is its return address: after the call.
        callers[count++] = ((const uintptr_t *)at)[1] - 1;
        lowest = at + 1;
        // A bit flags the frame of an async function.
        at = *(const uintptr_t *)at & ~((uintptr_t)1 << 60);
    }
    simulator.did_create(current, task, context, callers, count);
}

void ecs_did_meet(void *simulation, ecs_outside_use use) {
    if (simulation) simulator.did_meet(simulation, use);
}

void ecs_will_act(ecs_act act, const void *task) {
    if (current && !once_depth) simulator.will_act(current, act, task);
}

void ecs_did_act(ecs_act act, ecs_yield yield) {
    if (current && !once_depth) simulator.did_act(current, act, yield);
}

void ecs_did_make_continuation(const void *task) {
    if (current) simulator.did_make_continuation(current, task);
}

bool ecs_will_resume(const void *task) { return !current || simulator.will_resume(current, task); }

// Whether Dispatch's semaphores and groups are simulated, and its queues, if the layout of its
// objects is known. The environment can switch both off.
static bool has_counters, has_queues;
bool ecs_asks_for_dispatch(void) {
    const char *value = getenv("EXECUTION_CONTEXTS_DISPATCH");
    return !value || value[0] != '0' || value[1];
}
__attribute__((constructor)) static void read_environment(void) { has_counters = ecs_asks_for_dispatch(); }
void ecs_set_knows_dispatch(bool is_known) { has_queues = is_known; }

// Whether a schedule created a semaphore or a group, which an outside thread might use.
static bool watches_counters;
// Relaxed: a thread that has an object of a schedule received it through some ordering.
void ecs_watch_counters(bool watches) { __atomic_store_n(&watches_counters, watches, __ATOMIC_RELAXED); }
static bool is_watched(void) { return __atomic_load_n(&watches_counters, __ATOMIC_RELAXED); }

void ecs_did_make(ecs_counter counter, intptr_t value, bool for_system) {
    if (!has_counters) return ecs_did_meet(for_system ? NULL : current, ecs_uses_dispatch);
    if (current) simulator.did_make(current, counter, value, for_system);
    else if (is_watched()) simulator.did_make_outside(counter);
}

bool ecs_will_use(ecs_counter counter, ecs_use use) {
    if (!has_counters) {
        ecs_did_meet(current, ecs_uses_dispatch);
        return false;
    }
    if (current) return simulator.will_use(current, counter);
    if (is_watched()) simulator.will_use_outside(counter, use);
    return false;
}

bool ecs_did_use(ecs_counter counter, ecs_use use) { return simulator.did_use(current, counter, use); }

ecs_end ecs_wait_for(ecs_counter counter, uint64_t limit) {
    if (!has_counters) ecs_did_meet(current, ecs_uses_dispatch);
    return current && has_counters ? simulator.wait_for(current, counter, limit) : ecs_not_waited;
}

void ecs_did_wait_outside(ecs_counter counter, uint64_t limit, bool was_taken) {
    simulator.did_wait_outside(current, counter, limit, was_taken);
}

void ecs_will_give_away(const char *name) {
    if (current && has_counters) simulator.will_give_away(current, name);
}

const ecs_simulator *ecs_for_dispatch(const void *queue) {
    if (!has_queues) {
        ecs_did_meet(current, ecs_uses_dispatch);
        return NULL;
    }
    if (current) return simulator.takes_jobs(current) ? &simulator : NULL;
    if (queue && is_watched()) simulator.will_use_outside((ecs_counter){queue, false}, ecs_submit);
    return NULL;
}

void ecs_did_make_item(const void *group) {
    ecs_counter counter = {group, true};
    if (!has_queues) return;
    if (current) simulator.did_make_item(current, counter);
    else if (is_watched()) simulator.did_make_outside(counter);
}

void ecs_did_make_queue(const void *queue, bool for_system) {
    if (!has_queues) return;
    if (current) simulator.did_make_queue(current, queue, for_system);
    else if (is_watched()) simulator.did_make_outside((ecs_counter){queue, false});
}

void ecs_did_read(uint64_t time) {
    if (has_counters) simulator.did_read(current, time);
}
void ecs_did_add(uint64_t base, int64_t delta, uint64_t time) {
    if (has_counters) simulator.did_add(current, base, delta, time);
}

void ecs_will_lock(ecs_lock lock, bool waits) {
    if (current) simulator.will_lock(current, lock, waits);
}
// At least as many as the thread has locks that the simulation knows.
static ECS_THREAD_LOCAL uint32_t lock_count;
void ecs_did_lock(ecs_lock lock) {
    if (!current) return;
    lock_count++;
    simulator.did_lock(current, lock);
}
void ecs_will_lock_unseen(ecs_lock lock) { simulator.will_lock_unseen(current, lock); }
void ecs_did_unlock(ecs_lock lock) {
    if (current && lock_count && simulator.did_unlock(current, lock)) lock_count--;
}
void ecs_did_free_lock(ecs_lock lock) {
    if (current) simulator.did_free_lock(current, lock);
}
void *ecs_current(void) { return current; }
int64_t ecs_now(void) { return current ? simulator.now(current) : -1; }
void ecs_will_hand_over(void) { simulator.will_hand_over(current); }
void ecs_did_miss(void) { simulator.did_miss(current); }

bool ecs_sleep(int64_t nanoseconds) {
    // Each sleep takes some time, so that a loop of sleeps ends.
    return current && simulator.sleep(current, nanoseconds < 1000 ? 1000 : nanoseconds);
}

bool ecs_run_on_new_thread(void *function, void *context, bool may_pause) {
    return current && simulator.run_on_new_thread(current, function, context, may_pause);
}

bool ecs_fill(void *bytes, size_t count) { return current && simulator.fill(current, bytes, count); }

void ecs_report_trap(void) { simulator.will_trap(current); }

static uint32_t kind(const void *job) { return ((const uint32_t *)job)[2 * ecs_flags_at] & kind_mask; }
enum { async_let = 1 << 28 };
bool ecs_is_async_let(const void *job) { return ((const uint32_t *)job)[2 * ecs_flags_at] & async_let; }
int ecs_priority(const void *job) { return ((const uint32_t *)job)[2 * ecs_flags_at] >> 8 & 0xff; }
bool ecs_is_task(const void *job) { return kind(job) == kind_task; }
void *ecs_drained(void *job) { return kind(job) == kind_drain ? ((void **)job)[actor_at] : NULL; }
void *ecs_first_in(void *actor) {
    // The lower bits of the word belong to the actor.
    return (void *)(((uintptr_t *)actor)[first_job_at] & ~(uintptr_t)7);
}
// The first job that a drain runs, if that is a task's; else NULL.
static void *first_drained(void *drain) {
    void *first = ecs_first_in(ecs_drained(drain));
    return first && ecs_is_task(first) ? first : NULL;
}
uint32_t ecs_task_number(const void *job) {
    if (kind(job) == kind_resumption) job = ((void *const *)job)[resumed_at];
    return ecs_is_task(job) ? ((const uint32_t *)job)[2 * ecs_flags_at + 1] : 0;
}
bool ecs_is_running(const void *task) {
    // Acquiring: what the task did before it suspended.
    return __atomic_load_n((const uint64_t *)task + ecs_status_at, __ATOMIC_ACQUIRE) & is_running;
}

bool ecs_has_ended(const void *task) { return ((const uint64_t *)task)[ecs_status_at] & has_ended; }
void ecs_retain(void *object) { swift_retain(object); }
void ecs_release(void *object) { swift_release(object); }
void ecs_release_all_but_one(void *object) {
    while (swift_retainCount(object) > 1) swift_release(object);
}

// The first function of a task, while its name is queried.
static ECS_THREAD_LOCAL ecs_resume *unnamed;

// Runs before a task's first part.
static SWIFT_ASYNC_CALL void ask_for_name(ASYNC_CONTEXT void *context) {
    simulator.did_start(current, swift_task_getCurrentTaskName ? swift_task_getCurrentTaskName() : NULL);
    __attribute__((musttail)) return unnamed(context);
}

// Whether this thread runs a job of its simulation, and no job of another executor inside it.
static ECS_THREAD_LOCAL bool runs_job;

bool ecs_runs_job(void) { return runs_job; }

bool ecs_prefers_executor(void) {
    return swift_task_getPreferredTaskExecutor && swift_task_getPreferredTaskExecutor().identity;
}

// An actor orders its jobs. This shows the order to what checks accesses, since the simulation runs
// the jobs without the actor's own queue.
#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
static void order_after(void *actor) { __tsan_acquire(actor); }
static void order_before(void *actor) { __tsan_release(actor); }
#else
static void order_after(void *actor) { ecs_order_acquire(actor); }
static void order_before(void *actor) { ecs_order_release(actor); }
#endif

void ecs_run(void *job, ecs_executor executor) {
    bool outer = runs_job;
    runs_job = true;
    // A drain acquires its actor itself.
    if (kind(job) == kind_drain) executor = (ecs_executor){NULL, 0};
    if (executor.identity) order_after(executor.identity);
    swift_job_run(job, executor.identity, executor.implementation);
    // Only an address: the job may have been the actor's last user.
    if (executor.identity) order_before(executor.identity);
    runs_job = outer;
}

void ecs_run_first(void *task, ecs_executor executor) {
    unnamed = (ecs_resume *)((void **)task)[ecs_resume_at];
    ((void **)task)[ecs_resume_at] = (void *)ask_for_name;
    ecs_run(task, executor);
}

size_t ecs_locations(const void *task, uintptr_t *locations, size_t most) {
    uintptr_t words[words_read], frame[2];
    size_t count = 0;
    if (kind(task) != kind_task || !ecs_read(task, words, sizeof words)) return 0;
    uintptr_t context = words[ecs_context_at];
    locations[count++] = words[ecs_resume_at];
    for (uintptr_t caller = context; caller && count < most; caller = frame[0]) {
        if (!ecs_read((const void *)caller, frame, sizeof frame)) break;
        locations[count++] = frame[1];
    }
    return count;
}

ecs_executor ecs_suspending_executor_for(ecs_executor executor) {
    intended_executor = executor;
    return suspending_executor;
}

bool ecs_is_suspending_executor(const void *identity) { return identity == suspending_executor.identity; }

// The last job that this thread enqueued.
static ECS_THREAD_LOCAL const void *taken;
static void give_job(void *job, ecs_executor executor, int64_t delay) {
    taken = job;
    simulator.take(current, job, executor, delay);
}

const void *ecs_swap_taken(const void *job) {
    const void *last = taken;
    taken = job;
    return last;
}

void ecs_take(void *job) {
    ecs_executor executor = intended_executor;
    intended_executor = (ecs_executor){NULL, 0};
    give_job(job, executor, 0);
}

// Runs instead of a task that a drain has begun: passes it to the simulation.
static SWIFT_ASYNC_CALL void hand_over_drained(ASYNC_CONTEXT void *context) {
    ecs_executor suspending_executor = ecs_suspending_executor_for((ecs_executor){draining, 0});
    swift_task_switch(context, drained_resume, suspending_executor.identity, suspending_executor.implementation);
}

// An idle actor has queued its first job, and requests a drain. The drain runs now: the job passes
// its task to the simulation instead of running it, and the actor is idle again. So each job of an
// actor is one of the simulation's, which runs one of them at a time.
static bool take_from_actor(void *drain) {
    void **first = first_drained(drain);
    if (!first) return false;
    void *outer = draining;
    ecs_resume *outer_resume = drained_resume;
    draining = ecs_drained(drain);
    drained_resume = (ecs_resume *)first[ecs_resume_at];
    first[ecs_resume_at] = (void *)hand_over_drained;
    swift_job_run(drain, NULL, 0);
    draining = outer;
    drained_resume = outer_resume;
    return true;
}

uint32_t ecs_search(const void *task) {
    return (uint32_t)((uint64_t)(uintptr_t)((void *const *)task)[ecs_owner_at] >> 32);
}

bool ecs_did_leave(void *job) {
    if (ecs_layout_test_takes(job)) return true;
    if (!ecs_may_read_tasks()) return false;
    // A drain belongs to the search of the first task that it runs.
    void *task = ecs_drained(job) ? first_drained(job) : job;
    uint32_t search = task && ecs_is_task(task) ? ecs_search(task) : 0;
    if (search) simulator.did_leave(search, job);
    return search;
}

void ecs_set_owner(void *task, uint32_t search, uint32_t record) {
    ((void **)task)[ecs_owner_at] = (void *)(uintptr_t)((uint64_t)search << 32 | record);
}

uint32_t ecs_record(const void *job) {
    if (kind(job) == kind_resumption) job = ((void *const *)job)[resumed_at];
    return ecs_is_task(job) ? (uint32_t)(uintptr_t)((void *const *)job)[ecs_owner_at] : 0;
}

static SWIFT_CALL void global(void *job, enqueue *original) {
    if (!current) {
        if (!ecs_did_leave(job)) original(job);
        return;
    }
    void *actor = ecs_drained(job);
    if (actor && take_from_actor(job)) return;
    // A job that is not a task, such as an isolated deinit, runs in the actor's own drain, and
    // holds the actor.
    give_job(job, (ecs_executor){actor, 0}, 0);
}

static SWIFT_CALL void global_with_delay(uint64_t delay, void *job, enqueue_with_delay *original) {
    if (!current) return original(delay, job);
    give_job(job, (ecs_executor){NULL, 0}, (int64_t)delay);
}

void ecs_install(ecs_simulator given, ecs_executor given_executor) {
    simulator = given;
    suspending_executor = given_executor;
    ecs_put_back_hooks();
}

// Relaxed: a thread that uses a hook meanwhile finds one or the other. Other searches only compare.
bool ecs_put_back_hooks(void) {
    if (__atomic_load_n(&swift_task_enqueueGlobal_hook, __ATOMIC_RELAXED) == global
        && __atomic_load_n(&swift_task_enqueueGlobalWithDelay_hook, __ATOMIC_RELAXED) == global_with_delay)
        return false;
    __atomic_store_n(&swift_task_enqueueGlobal_hook, global, __ATOMIC_RELAXED);
    __atomic_store_n(&swift_task_enqueueGlobalWithDelay_hook, global_with_delay, __ATOMIC_RELAXED);
    return true;
}
