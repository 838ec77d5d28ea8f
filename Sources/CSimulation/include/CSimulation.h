#ifndef CSIMULATION_H
#define CSIMULATION_H

// How a simulation takes the jobs of Swift's tasks and actors from the concurrency runtime, and
// what the system's clocks show its threads. Only the library for tests has this target.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A serial executor as the runtime passes it: none, a default actor, or an executor object.
typedef struct {
    void *_Nullable identity;
    uintptr_t implementation;
} ecs_executor;

/// What a thread waits for in the system. A mutex has a word that is zero while it is free, and the
/// word with its holder. A condition, and a lock for readers and writers, has its address.
typedef enum { ecs_mutex, ecs_condition, ecs_reads, ecs_writes, ecs_expectation } ecs_lock_kind;
typedef struct {
    ecs_lock_kind kind;
    const uint32_t *_Nonnull word;
    const uint32_t *_Nullable holder;
} ecs_lock;

/// How a wait in the simulation ends: the simulation does not handle it, or the lock is free or the
/// condition signalled, or the time limit has passed, or only an outside thread can end it.
typedef enum { ecs_not_waited, ecs_free, ecs_late, ecs_outside } ecs_end;

/// What a task does to others.
typedef enum { ecs_resumes, ecs_cancels, ecs_cancels_group, ecs_yields, ecs_finishes } ecs_act;

/// A yield to a stream: where its result is, and the type of the stream's continuation.
typedef struct {
    const void *_Nullable result;
    const void *const _Nullable *_Nullable continuation;
} ecs_yield;

/// The cases of that result, in the order of their tags.
typedef enum { ecs_is_enqueued, ecs_drops_element, ecs_has_finished, ecs_is_unknown } ecs_outcome;
ecs_outcome ecs_outcome_of(ecs_yield yield);

/// What a suspended task waits for, with the tags of the runtime; of a task, its number.
typedef enum { ecs_awaits_something, ecs_awaits_task, ecs_awaits_continuation, ecs_awaits_group } ecs_awaited_kind;
typedef struct {
    ecs_awaited_kind kind;
    uint32_t task;
} ecs_awaited;
ecs_awaited ecs_awaited_by(const void *_Nonnull task);

bool ecs_task_is_cancelled(const void *_Nonnull task);

/// The type of the error that a task has thrown, which has ended and began with this context; or
/// NULL.
const void *_Nullable ecs_thrown_by(const void *_Nonnull task, const void *_Nullable context);

/// What the program does outside of the simulation: it uses Dispatch, or starts a thread.
typedef enum { ecs_uses_dispatch, ecs_starts_thread } ecs_outside_use;

/// A Dispatch semaphore or group.
typedef struct {
    const void *_Nonnull address;
    bool is_group;
} ecs_counter;

/// What a thread does to a semaphore, a group or a queue.
typedef enum { ecs_signal, ecs_enter, ecs_leave, ecs_submit } ecs_use;

/// A job that the program submits to a Dispatch queue.
typedef struct {
    const void *_Nonnull queue;
    void (*_Nonnull function)(void *_Nullable context);
    void *_Nullable context;
    /// The group that the job leaves when it has run.
    const void *_Nullable group;
    /// Whether the context is a block, which is copied for a job that runs later.
    bool is_block;
    bool is_barrier;
} ecs_dispatch_job;

/// A Dispatch time: an instant on one of its clocks, in nanoseconds, or now or never.
typedef enum { ecs_uptime, ecs_continuous, ecs_date } ecs_clock;
typedef enum { ecs_instant, ecs_now_itself, ecs_never } ecs_time_kind;
typedef struct {
    ecs_time_kind kind;
    ecs_clock clock;
    int64_t value;
} ecs_time;

/// What a simulation does for its threads.
typedef struct {
    /// Takes a job that is ready after `delay` nanoseconds.
    void (*_Nonnull take)(void *_Nonnull simulation, void *_Nonnull job, ecs_executor executor, int64_t delay);
    /// The simulated time in nanoseconds, or a negative number for the real one.
    int64_t (*_Nonnull now)(void *_Nonnull simulation);
    /// Runs a closure of Swift on a new thread, which may begin before the caller continues if that
    /// may pause; false where the simulation itself runs.
    bool (*_Nonnull run_on_new_thread)(
        void *_Nonnull simulation, void *_Nonnull function, void *_Nullable context, bool may_pause);
    /// Makes the calling thread sleep in simulated time; false if it does not sleep.
    bool (*_Nonnull sleep)(void *_Nonnull simulation, int64_t nanoseconds);
    /// Writes random numbers of the schedule; false if the system is to write its own.
    bool (*_Nonnull fill)(void *_Nonnull simulation, void *_Nonnull bytes, size_t count);
    /// A task of the calling thread changes its executor, and the simulation cannot pause it there.
    void (*_Nonnull did_miss)(void *_Nonnull simulation);
    /// The task of the calling thread continues on an executor of the program's own.
    void (*_Nonnull will_hand_over)(void *_Nonnull simulation);
    /// The calling thread created a task, which begins with this context; addresses in the
    /// functions that created it, innermost first.
    void (*_Nonnull did_create)(
        void *_Nonnull simulation, const void *_Nonnull task, const void *_Nullable context,
        const uintptr_t *_Nonnull callers, size_t count);
    /// The calling thread does something that the simulation does not control.
    void (*_Nonnull did_meet)(void *_Nonnull simulation, ecs_outside_use use);
    /// The calling thread is about to cancel this task, or those of a group, which calls handlers.
    void (*_Nonnull will_act)(void *_Nonnull simulation, ecs_act act, const void *_Nullable task);
    /// The calling thread has resumed a continuation, cancelled tasks, yielded to a stream or
    /// finished it.
    void (*_Nonnull did_act)(void *_Nonnull simulation, ecs_act act, ecs_yield yield);
    /// The calling thread made a continuation of its task; it is about to resume one of a task,
    /// which may have ended: false if that one was resumed before.
    void (*_Nonnull did_make_continuation)(void *_Nonnull simulation, const void *_Nonnull task);
    bool (*_Nonnull will_resume)(void *_Nonnull simulation, const void *_Nonnull task);
    /// Whether the simulation handles the calling thread's waits for system conditions.
    bool (*_Nonnull waits)(void *_Nonnull simulation);
    /// Waits until a system lock is free or a condition signalled, or until a simulated time. The
    /// simulation does not handle a lock that none of its threads holds.
    ecs_end (*_Nonnull wait)(void *_Nonnull simulation, ecs_lock lock, int64_t deadline);
    /// The calling thread signals a system condition to one waiting thread, or to all.
    void (*_Nonnull did_signal)(void *_Nonnull simulation, ecs_lock condition, bool to_all);
    /// The calling thread is about to take a lock of the system, and waits for it if it is taken,
    /// or to use a condition; it has taken the lock; it has released it, and the simulation knew
    /// that it had it. It takes a lock that is not known to be the program's. The lock or the
    /// condition at an address is gone.
    void (*_Nonnull will_lock)(void *_Nonnull simulation, ecs_lock lock, bool waits);
    void (*_Nonnull did_lock)(void *_Nonnull simulation, ecs_lock lock);
    bool (*_Nonnull did_unlock)(void *_Nonnull simulation, ecs_lock lock);
    void (*_Nonnull will_lock_unseen)(void *_Nonnull simulation, ecs_lock lock);
    void (*_Nonnull did_free_lock)(void *_Nonnull simulation, ecs_lock lock);
    /// The calling thread created a semaphore with a value, or a group; `for_system` if the
    /// system's own code created it for itself.
    void (*_Nonnull did_make)(void *_Nonnull simulation, ecs_counter counter, intptr_t value, bool for_system);
    /// The calling thread is about to signal a semaphore, or to enter or leave a group; false if
    /// the simulation does not handle it.
    bool (*_Nonnull will_use)(void *_Nonnull simulation, ecs_counter counter);
    /// It has done so; returns whether another thread was waiting for that.
    bool (*_Nonnull did_use)(void *_Nonnull simulation, ecs_counter counter, ecs_use use);
    /// Waits for a semaphore or a group, until a Dispatch time.
    ecs_end (*_Nonnull wait_for)(void *_Nonnull simulation, ecs_counter counter, uint64_t limit);
    /// The calling thread waited outside of the simulation, with or without success.
    void (*_Nonnull did_wait_outside)(
        void *_Nonnull simulation, ecs_counter counter, uint64_t limit, bool was_taken);
    /// The calling thread submits work to an object with this name, which runs it outside.
    void (*_Nonnull will_give_away)(void *_Nonnull simulation, const char *_Nonnull name);
    /// The calling thread created a Dispatch queue.
    void (*_Nonnull did_make_queue)(void *_Nonnull simulation, const void *_Nonnull queue, bool for_system);
    /// Whether the simulation runs the jobs that the calling thread submits.
    bool (*_Nonnull takes_jobs)(void *_Nonnull simulation);
    /// Submits a job to its queue, at a Dispatch time.
    void (*_Nonnull submit)(void *_Nonnull simulation, ecs_dispatch_job job, uint64_t time);
    /// Submits a job to its queue when a group is empty; false if an outside thread is in the
    /// group.
    bool (*_Nonnull notify)(void *_Nonnull simulation, ecs_counter group, ecs_dispatch_job job);
    /// Runs a job in its queue before it returns.
    void (*_Nonnull run_in_queue)(void *_Nonnull simulation, ecs_dispatch_job job);
    /// Calls a function `count` times, on several threads; `queue` is NULL for any.
    void (*_Nonnull apply)(
        void *_Nonnull simulation, size_t count, const void *_Nullable queue, void *_Nullable context,
        void (*_Nonnull function)(void *_Nullable context, size_t index));
    /// The calling thread is about to change or read a queue or a work item.
    void (*_Nonnull will_touch)(void *_Nonnull simulation, const void *_Nonnull object);
    /// The calling thread suspended or resumed a queue, or changed its target.
    void (*_Nonnull did_change_queue)(void *_Nonnull simulation, const void *_Nonnull queue);
    /// The queue of a job that the calling thread runs, innermost first; NULL for no more.
    const void *_Nullable (*_Nonnull queue_at)(
        void *_Nonnull simulation, size_t depth, bool *_Nonnull is_exclusive);
    /// The calling thread created a work item, which contains this group.
    void (*_Nonnull did_make_item)(void *_Nonnull simulation, ecs_counter group);
    /// The calling thread is about to wait for a work item, or has run one, with this group.
    void (*_Nonnull will_wait_for_item)(void *_Nonnull simulation, ecs_counter group);
    void (*_Nonnull did_run_item)(void *_Nonnull simulation, ecs_counter group);
    /// The calling thread read a Dispatch clock.
    void (*_Nonnull did_read)(void *_Nonnull simulation, uint64_t time);
    /// It derived a Dispatch time from another one.
    void (*_Nonnull did_add)(void *_Nonnull simulation, uint64_t base, int64_t delta, uint64_t time);
    /// A thread outside of simulations created a semaphore or a group, or is about to use one.
    void (*_Nonnull did_make_outside)(ecs_counter counter);
    void (*_Nonnull will_use_outside)(ecs_counter counter, ecs_use use);
    /// A task begins on the calling thread: its name, if it has one.
    void (*_Nonnull did_start)(void *_Nonnull simulation, const char *_Nullable name);
    /// A thread outside of simulations resumes a task of the search with this number.
    void (*_Nonnull did_leave)(uintptr_t search, const void *_Nonnull job);
    /// The calling thread traps, and the process ends.
    void (*_Nonnull will_trap)(void *_Nonnull simulation);
} ecs_simulator;

/// Whether the runtime's layout of tasks and actors is the one that this library uses.
///
/// Tests two tasks that `make` returns, and an idle actor. After `ecs_install`.
///
/// Each task waits for an `async let` that throws an error of this type, yields once, and ends.
/// `make` returns it retained.
bool ecs_knows_tasks(
    void *_Nonnull (*_Nonnull make)(void), void *_Nonnull actor, const void *_Nonnull error);

/// Installs the hooks, once in a process. Threads outside of simulations are not affected.
///
/// The runtime suspends a task by enqueuing it on `suspending_executor`, which calls `ecs_take`.
void ecs_install(ecs_simulator simulator, ecs_executor suspending_executor);

/// Installs the hooks again; returns whether the program had replaced them.
bool ecs_put_back_hooks(void);

/// Makes the order of the sets and dictionaries that are created from now on depend on what they
/// contain, not on their addresses. Where the runtime cannot do that, it does nothing.
void ecs_fix_order_of_tables(void);

/// Passes a suspended task to the simulation of the calling thread, for the executor that it needs.
void ecs_take(void *_Nonnull job);

/// The simulation of the calling thread.
void *_Nullable ecs_current(void);

/// Makes the calling thread a part of a simulation, or of none.
void ecs_set_current(void *_Nullable simulation);

/// The same temporarily; returns the previous simulation.
void *_Nullable ecs_swap_current(void *_Nullable simulation);

/// Pins the calling thread to one of the processors that it may run on, the same for the same
/// number. Threads that it creates may run on all.
///
/// Does nothing where the system does not let a program choose.
void ecs_pin(uint32_t number);

/// Whether a job is of an `async let`, whose task ends with its parent's frame.
bool ecs_is_async_let(const void *_Nonnull job);

/// Enqueues a job as a thread outside of simulations does.
void ecs_enqueue_outside(void *_Nonnull job, ecs_executor executor);

/// Runs a job on the calling thread, which holds the executor exclusively until the return.
void ecs_run(void *_Nonnull job, ecs_executor executor);

/// Runs the first part of a task, and reports its name.
void ecs_run_first(void *_Nonnull task, ecs_executor executor);

/// Writes addresses of code at which a suspended task resumes, innermost first; returns how many.
/// Not every word is such an address: the caller checks which of them are in functions.
size_t ecs_locations(const void *_Nonnull task, uintptr_t *_Nonnull locations, size_t most);

/// The priority of a job, as `TaskPriority` has it.
int ecs_priority(const void *_Nonnull job);
/// Whether a job is the next part of a task, and so is the task.
bool ecs_is_task(const void *_Nonnull job);

/// The number of a task, which no other job of the process has; of a job that resumes a task, that
/// task's. Zero for other jobs.
uint32_t ecs_task_number(const void *_Nonnull job);

/// Sets the search that a task belongs to, by its number or zero for none yet, and the task's
/// record in the search.
void ecs_set_owner(void *_Nonnull task, uint32_t search, uint32_t record);

/// The search that a task belongs to; zero for none.
uint32_t ecs_search(const void *_Nonnull task);

/// The record of a task, or of the task that a job resumes; zero if none was set.
uint32_t ecs_record(const void *_Nonnull job);

/// Whether a job belongs to a search, which is then notified that it has left; called outside of
/// simulations.
bool ecs_did_leave(void *_Nonnull job);

/// Installs handlers that print the schedule when a simulated thread traps. They stay installed.
void ecs_watch_traps(void);

/// Gives the calling thread a stack for the handler of its traps.
void ecs_use_signal_stack(void);

/// Frees that stack.
void ecs_free_signal_stack(void);

/// Ends the calling thread at once, and keeps its stack. Where the platform or a sanitizer cannot
/// do that, the thread waits forever.
_Noreturn void ecs_end_thread(void);

/// Whether an address is in the code of XCTest.
bool ecs_is_xctest(const void *_Nullable address);

/// Whether the calling thread is initializing a static variable.
bool ecs_is_making_static(void);

/// Whether a task runs on some thread.
bool ecs_is_running(const void *_Nonnull task);

/// Whether a task has ended.
bool ecs_has_ended(const void *_Nonnull task);

/// Whether the simulation intercepts each change of executor on one thread.
bool ecs_takes_switches(void);

/// Whether locks, new tasks and what a task does to others are scheduling points as well.
bool ecs_sees_all(void);

/// Writes the addresses of the calls that lead to the calling function; returns how many.
size_t ecs_callers(uintptr_t *_Nonnull addresses, size_t count);

/// The end of the calling thread's stack; NULL where it is unknown.
const void *_Nullable ecs_stack_end(void);

/// The start and the size of the buffer of an array, set or dictionary that contains an address, if
/// there is only one reference to it.
const void *_Nullable ecs_owned_buffer(const void *_Nonnull address, size_t *_Nonnull size);

/// The names of the class and of the stored property that an address is in; false if they are not
/// known.
bool ecs_field(
    const void *_Nullable address, const char *_Nullable *_Nonnull type,
    const char *_Nullable *_Nonnull field);

/// The number that identifies the calling thread in the system's locks; zero where it is unknown.
uint32_t ecs_thread(void);

/// Whether a lock is taken.
bool ecs_is_taken(ecs_lock lock);

/// The thread that holds a lock.
uint32_t ecs_holder(ecs_lock lock);

/// Releases a mutex whose thread, which has this number, never continues.
void ecs_give_back_lock(ecs_lock lock, uint32_t owner);

/// Takes a permit of a semaphore if there is one; for a group, returns whether it is empty.
bool ecs_try(ecs_counter counter);

/// Gives back a permit of a semaphore, or leaves a group, as a thread outside of simulations does.
void ecs_give_back(ecs_counter counter);
/// Whether a semaphore has fewer permits than at its creation, or a group is not empty.
bool ecs_has_takers(ecs_counter counter);

/// Runs a Dispatch job on the calling thread, and frees it.
void ecs_perform(ecs_dispatch_job job);
/// Frees a Dispatch job that is not run.
void ecs_discard(ecs_dispatch_job job);
/// Whether a job is a work item that was cancelled.
bool ecs_is_cancelled(ecs_dispatch_job job);

/// Properties of a Dispatch queue. A target of NULL is one of the system's own queues.
const char *_Nonnull ecs_queue_label(const void *_Nonnull queue);
const void *_Nonnull ecs_main_queue(void);
bool ecs_queue_is_serial(const void *_Nonnull queue);
bool ecs_queue_is_main(const void *_Nonnull queue);
bool ecs_queue_is_global(const void *_Nonnull queue);
bool ecs_queue_is_suspended(const void *_Nonnull queue);
const void *_Nullable ecs_queue_target(const void *_Nonnull queue);

/// Keeps the memory of a queue alive, also of one that only its inner queues refer to.
void ecs_queue_keep(const void *_Nonnull queue);
void ecs_queue_drop(const void *_Nonnull queue);

/// Retains a Dispatch object that the program refers to.
void ecs_dispatch_retain(const void *_Nonnull object);
void ecs_dispatch_release(const void *_Nonnull object);

/// Sets whether outside threads report the semaphores and groups that they create and use.
void ecs_watch_counters(bool watches);

/// Decodes a Dispatch time.
ecs_time ecs_time_of(uint64_t time);
/// What a clock shows simulated threads when simulated time begins, and its real value.
int64_t ecs_clock_start(ecs_clock clock);
int64_t ecs_real_time(ecs_clock clock);

// For the simulation scheduler, which runs one simulated thread at a time. That order must not hide
// from the thread sanitizer that nothing else orders the threads. The sanitizer sees neither the
// passing of the scheduler token nor what the scheduler does between `ecs_ignore_begin` and
// `ecs_ignore_end`.

/// The place at which one thread waits for the scheduler token.
typedef struct ecs_token ecs_token;
ecs_token *_Nonnull ecs_token_new(void);
void ecs_token_free(ecs_token *_Nonnull token);
/// Passes the scheduler token to the thread that waits there, or will wait. It continues on its own
/// system thread.
void ecs_token_pass(ecs_token *_Nonnull token);
/// Waits until the scheduler token is passed, and takes it; only for the one thread of `token`.
void ecs_token_wait(ecs_token *_Nonnull token);
/// Passes the scheduler token from `from`, the caller's, to `to`, and waits for its return. Where
/// both are adopted, the caller's system thread continues the other thread.
void ecs_token_change(ecs_token *_Nonnull from, ecs_token *_Nonnull to);
/// Makes the calling thread the one of the token, which other system threads may run; until it
/// leaves, on its own system thread again. It blocks the signals of `mask`, as each thread of the
/// search does: its creator may block others.
void ecs_token_adopt(ecs_token *_Nonnull token, uint64_t mask);
/// The signals that the calling thread blocks; zero where threads do not adopt tokens.
uint64_t ecs_signal_mask(void);
void ecs_token_leave(ecs_token *_Nonnull token);
/// Whether one system thread can run what others have adopted: the platform and the processor can,
/// no debugger runs the program, and the environment does not forbid it.
bool ecs_may_exchange(void);
void ecs_ignore_begin(void);
void ecs_ignore_end(void);
/// Whether the calling thread is between the two, so that the scheduler runs there.
bool ecs_ignores(void);
/// Makes the sanitizer observe again until `ecs_ignore_resume` is called with the result.
uint32_t ecs_ignore_suspend(void);
void ecs_ignore_resume(uint32_t depth);

void ecs_retain(void *_Nonnull object);
void ecs_release(void *_Nonnull object);
/// Releases an object until one reference is left.
void ecs_release_all_but_one(void *_Nonnull object);

#endif
