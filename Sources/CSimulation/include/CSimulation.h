#ifndef CSIMULATION_H
#define CSIMULATION_H

// How a simulation takes the jobs of Swift's tasks and actors from the concurrency runtime, and
// what the clocks of the system tell its threads. Only the library for tests has this target.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A serial executor as the runtime passes it: none, a default actor, or an executor object.
typedef struct {
    void *_Nullable identity;
    uintptr_t implementation;
} ecs_executor;

/// What a thread waits for in the system. Of a lock, a word that is zero while it is free, and the
/// word with its holder. Of a condition, its address and no holder.
typedef struct {
    const uint32_t *_Nonnull word;
    const uint32_t *_Nullable holder;
} ecs_lock;

/// How a wait in the simulation ends: it is not the simulation's affair, or the lock is free or the
/// condition signalled, or the time limit has passed, or only a thread outside can end it.
typedef enum { ecs_not_waited, ecs_free, ecs_late, ecs_outside } ecs_end;

/// A semaphore or a group of Dispatch.
typedef struct {
    const void *_Nonnull address;
    bool is_group;
} ecs_counter;

/// What a thread does to a semaphore, a group or a queue.
typedef enum { ecs_signal, ecs_enter, ecs_leave, ecs_submit } ecs_use;

/// A job that the program gives to a queue of Dispatch.
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

/// A time of Dispatch: an instant on one of its clocks, in nanoseconds, or now or never.
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
    /// Has the calling thread sleep for so many nanoseconds of simulated time; false if it does
    /// not.
    bool (*_Nonnull sleep)(void *_Nonnull simulation, int64_t nanoseconds);
    /// A task of the calling thread changes its executor, and the simulation cannot pause it there.
    void (*_Nonnull did_miss)(void *_Nonnull simulation);
    /// The task of the calling thread goes on with an executor of the program's own.
    void (*_Nonnull will_hand_over)(void *_Nonnull simulation);
    /// The calling thread has created a task; addresses in the functions that did, innermost first.
    void (*_Nonnull did_create)(
        void *_Nonnull simulation, const void *_Nonnull task, const uintptr_t *_Nonnull callers, size_t count);
    /// Whether the calling thread's waits for conditions of the system are the simulation's.
    bool (*_Nonnull waits)(void *_Nonnull simulation);
    /// Waits until a lock of the system is free or a condition signalled, or until a simulated
    /// time. It is not the simulation's affair where none of its threads has the lock.
    ecs_end (*_Nonnull wait)(void *_Nonnull simulation, ecs_lock lock, int64_t deadline);
    /// The calling thread signals a condition of the system to one thread that waits for it, or to
    /// all.
    void (*_Nonnull did_signal)(void *_Nonnull simulation, ecs_lock condition, bool to_all);
    /// The calling thread takes a lock of the system.
    void (*_Nonnull will_lock)(void *_Nonnull simulation);
    /// The calling thread has made a semaphore with a value, or a group. The system's own code
    /// makes some for itself.
    void (*_Nonnull did_make)(void *_Nonnull simulation, ecs_counter counter, intptr_t value, bool for_system);
    /// The calling thread is about to signal a semaphore, or to enter or leave a group; false if
    /// that is not the simulation's affair.
    bool (*_Nonnull will_use)(void *_Nonnull simulation, ecs_counter counter);
    /// It has done so; returns whether another thread waited for what it signalled.
    bool (*_Nonnull did_use)(void *_Nonnull simulation, ecs_counter counter, ecs_use use);
    /// Waits for a semaphore or a group, until a time of Dispatch.
    ecs_end (*_Nonnull wait_for)(void *_Nonnull simulation, ecs_counter counter, uint64_t limit);
    /// The calling thread has waited outside of the simulation, and got what it waited for or not.
    void (*_Nonnull did_wait_outside)(
        void *_Nonnull simulation, ecs_counter counter, uint64_t limit, bool was_taken);
    /// The calling thread gives work to what has this name, which runs it outside.
    void (*_Nonnull will_give_away)(void *_Nonnull simulation, const char *_Nonnull name);
    /// The calling thread has made a queue of Dispatch.
    void (*_Nonnull did_make_queue)(void *_Nonnull simulation, const void *_Nonnull queue, bool for_system);
    /// Whether the jobs that the calling thread submits are the simulation's.
    bool (*_Nonnull takes_jobs)(void *_Nonnull simulation);
    /// Takes a job for its queue, at a time of Dispatch.
    void (*_Nonnull submit)(void *_Nonnull simulation, ecs_dispatch_job job, uint64_t time);
    /// Takes a job that its queue runs when a group is empty; false if a thread outside is in it.
    bool (*_Nonnull notify)(void *_Nonnull simulation, ecs_counter group, ecs_dispatch_job job);
    /// Runs a job in its queue before it returns.
    void (*_Nonnull run_in_queue)(void *_Nonnull simulation, ecs_dispatch_job job);
    /// Calls a function so many times, on several threads; `queue` is NULL for any.
    void (*_Nonnull apply)(
        void *_Nonnull simulation, size_t count, const void *_Nullable queue, void *_Nullable context,
        void (*_Nonnull function)(void *_Nullable context, size_t index));
    /// The calling thread is about to change a queue or a work item, or to look at it.
    void (*_Nonnull will_touch)(void *_Nonnull simulation, const void *_Nonnull object);
    /// The calling thread has suspended or resumed a queue, or has changed its target.
    void (*_Nonnull did_change_queue)(void *_Nonnull simulation, const void *_Nonnull queue);
    /// The queue of a job that the calling thread runs, innermost first; NULL for no more.
    const void *_Nullable (*_Nonnull queue_at)(
        void *_Nonnull simulation, size_t depth, bool *_Nonnull is_exclusive);
    /// The calling thread has made a work item, with this group inside of it.
    void (*_Nonnull did_make_item)(void *_Nonnull simulation, ecs_counter group);
    /// The calling thread is about to wait for a work item, or has run one, with this group.
    void (*_Nonnull will_wait_for_item)(void *_Nonnull simulation, ecs_counter group);
    void (*_Nonnull did_run_item)(void *_Nonnull simulation, ecs_counter group);
    /// The calling thread has read a clock of Dispatch.
    void (*_Nonnull did_read)(void *_Nonnull simulation, uint64_t time);
    /// It has made a time of Dispatch from another one.
    void (*_Nonnull did_add)(void *_Nonnull simulation, uint64_t base, int64_t delta, uint64_t time);
    /// A thread outside of simulations has made a semaphore or a group, or is about to use one.
    void (*_Nonnull did_make_outside)(ecs_counter counter);
    void (*_Nonnull will_use_outside)(ecs_counter counter, ecs_use use);
    /// A task begins on the calling thread: its name, if it has one.
    void (*_Nonnull did_start)(void *_Nonnull simulation, const char *_Nullable name);
    /// A thread outside of simulations resumes a task of the search with this number.
    void (*_Nonnull did_leave)(uintptr_t search, const void *_Nonnull job);
    /// The calling thread traps, and the process ends.
    void (*_Nonnull will_trap)(void *_Nonnull simulation);
} ecs_simulator;

/// Whether the runtime lays tasks and actors out as this library reads and writes them.
///
/// Looks at two tasks that `make` makes, and at an actor that is idle. After `ecs_install`.
///
/// Each task waits for an `async let`, yields once, and ends. `make` returns it retained.
bool ecs_knows_tasks(void *_Nonnull (*_Nonnull make)(void), void *_Nonnull actor);

/// Installs the hooks, once in a process. Threads outside of simulations go on as before.
///
/// The runtime suspends a task by enqueuing it on `taker`, which calls `ecs_take`.
void ecs_install(ecs_simulator simulator, ecs_executor taker);

/// Gives a suspended task to the simulation of the calling thread, for the executor that it is for.
void ecs_take(void *_Nonnull job);

/// The simulation of the calling thread.
void *_Nullable ecs_current(void);

/// Makes the calling thread a part of a simulation, or of none.
void ecs_set_current(void *_Nullable simulation);

/// The same for a time; returns the simulation before.
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

/// Runs a job on the calling thread, which has the executor exclusively until the return.
void ecs_run(void *_Nonnull job, ecs_executor executor);

/// Runs the first part of a task, and tells its name.
void ecs_run_first(void *_Nonnull task, ecs_executor executor);

/// Writes addresses of code at which a suspended task goes on, innermost first; returns how many.
/// Not each is one: the caller looks which of them a function has.
size_t ecs_locations(const void *_Nonnull task, uintptr_t *_Nonnull locations, size_t most);

/// Whether a job is the next part of a task, and so is the task.
bool ecs_is_task(const void *_Nonnull job);

/// The number of a task, which no other job of the process has; of a job that resumes a task, that
/// task's. Zero for other jobs.
uint32_t ecs_task_number(const void *_Nonnull job);

/// Says which search a task belongs to, by its number or zero for none yet, and which record of the
/// search is the task's.
void ecs_set_owner(void *_Nonnull task, uint32_t search, uint32_t record);

/// The record of a task, or of that which a job resumes; zero if none was set.
uint32_t ecs_record(const void *_Nonnull job);

/// Whether a job belongs to a search, which then is told that it has left; outside of simulations.
bool ecs_did_leave(void *_Nonnull job);

/// Has the schedule told that a trap of a simulated thread ends. For good: what comes later stays.
void ecs_watch_traps(void);

/// Gives the calling thread a stack for the handler of its traps.
void ecs_use_signal_stack(void);

/// Frees that stack.
void ecs_free_signal_stack(void);

/// Ends the calling thread in the middle of what it does, and leaves its stack. Where the platform
/// or a sanitizer cannot, the thread waits for ever.
_Noreturn void ecs_end_thread(void);

/// Whether the calling thread makes a static variable.
bool ecs_is_making_static(void);

/// Whether a task runs on some thread.
bool ecs_is_running(const void *_Nonnull task);

/// Whether a task has ended.
bool ecs_has_ended(const void *_Nonnull task);

/// Whether each change of executor on one thread comes to the simulation.
bool ecs_takes_switches(void);

/// Writes the addresses of the calls that lead to the calling function; returns how many.
size_t ecs_callers(uintptr_t *_Nonnull addresses, size_t count);

/// The number by which the system's locks know the calling thread; zero where none is known.
uint32_t ecs_thread(void);

/// Whether a lock is taken.
bool ecs_is_taken(ecs_lock lock);

/// The thread that holds a lock.
uint32_t ecs_holder(ecs_lock lock);

/// Takes a permit of a semaphore if there is one; of a group, whether no thread is in it.
bool ecs_try(ecs_counter counter);

/// Gives back a permit of a semaphore, or leaves a group, as a thread outside of simulations does.
void ecs_give_back(ecs_counter counter);
/// Whether a semaphore has fewer permits than it was made with, or a thread is in a group.
bool ecs_has_takers(ecs_counter counter);

/// Runs a job of Dispatch on the calling thread, and frees it.
void ecs_perform(ecs_dispatch_job job);
/// Frees a job of Dispatch that is not run.
void ecs_discard(ecs_dispatch_job job);
/// Whether a job is a work item that was cancelled.
bool ecs_is_cancelled(ecs_dispatch_job job);

/// What is known of a queue of Dispatch. A target of NULL is one of the system's own queues.
const char *_Nonnull ecs_queue_label(const void *_Nonnull queue);
const void *_Nonnull ecs_main_queue(void);
bool ecs_queue_is_serial(const void *_Nonnull queue);
bool ecs_queue_is_main(const void *_Nonnull queue);
bool ecs_queue_is_global(const void *_Nonnull queue);
bool ecs_queue_is_suspended(const void *_Nonnull queue);
const void *_Nullable ecs_queue_target(const void *_Nonnull queue);

/// Keeps the memory of a queue, also of one to which only queues inside it refer.
void ecs_queue_keep(const void *_Nonnull queue);
void ecs_queue_drop(const void *_Nonnull queue);

/// Keeps an object of Dispatch alive, to which the program refers.
void ecs_dispatch_retain(const void *_Nonnull object);
void ecs_dispatch_release(const void *_Nonnull object);

/// Says whether threads outside tell of the semaphores and groups that they make and use.
void ecs_watch_counters(bool watches);

/// What a number means by which Dispatch writes a time.
ecs_time ecs_time_of(uint64_t time);
/// What a clock shows simulated threads when simulated time begins, and what it really shows.
int64_t ecs_clock_start(ecs_clock clock);
int64_t ecs_real_time(ecs_clock clock);

// For the simulation scheduler, which runs one simulated thread at a time. That order must not hide
// from the thread sanitizer that nothing else orders the threads. The sanitizer sees neither how
// the scheduler token is passed nor what the scheduler does between `ecs_ignore_begin` and
// `ecs_ignore_end`.

/// Passes the scheduler token to the thread that waits on `word`, or will.
void ecs_token_pass(uint32_t *_Nonnull word);
/// Waits until the scheduler token is passed to `word`, and takes it.
void ecs_token_wait(uint32_t *_Nonnull word);
void ecs_ignore_begin(void);
void ecs_ignore_end(void);
/// Whether the calling thread is between the two, so that the scheduler runs there.
bool ecs_ignores(void);
/// Lets the sanitizer look again until `ecs_ignore_resume` is called with the result.
uint32_t ecs_ignore_suspend(void);
void ecs_ignore_resume(uint32_t depth);

void ecs_retain(void *_Nonnull object);
void ecs_release(void *_Nonnull object);
/// Releases an object until one reference is left.
void ecs_release_all_but_one(void *_Nonnull object);

#endif
