#ifndef INTERPOSITION_H
#define INTERPOSITION_H

// Shared by the files of this target: the layout of a job, the runtime's entry points, and the
// functions that the interposed functions call.

#include "CSimulation.h"

#include <stddef.h>

#define SWIFT_CALL __attribute__((swiftcall))
#define SWIFT_ASYNC_CALL __attribute__((swiftasynccall))
#define ASYNC_CONTEXT __attribute__((swift_async_context))

// Accessed without a function call. Only a library loaded at run time must fit it into a small
// reserved space.
#ifdef __ELF__
#define ECS_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define ECS_THREAD_LOCAL _Thread_local
#endif

// A function in which no sanitizer is called, not even at its beginning.
#if defined(__has_attribute) && __has_attribute(disable_sanitizer_instrumentation)
#define NO_SANITIZER __attribute__((disable_sanitizer_instrumentation))
#else
#define NO_SANITIZER
#endif

// Whether one system thread can run several simulated ones. The thread sanitizer has to see each
// as a thread of the system.
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && !__has_feature(thread_sanitizer)
#define ECS_EXCHANGES 1
#else
#define ECS_EXCHANGES 0
#endif
/// The number in the system of the thread that adopted a token and calls this; zero for others.
long ecs_own_number(void);
/// Continues the calling thread on its own system thread, if it has adopted a token. It may be
/// changed from there again.
void ecs_go_home(void);
/// The same for good: what is changed next belongs to the system thread.
void ecs_stay_home(void);
/// The calling thread is the one of a forked child.
void ecs_forget_token(void);

typedef SWIFT_ASYNC_CALL void ecs_resume(ASYNC_CONTEXT void *context);

// The layout of a job, in words: a header of two, two of its executor, flags and number, a voucher,
// a reserved word that the runtime does not use, and what it runs with its context. The reserved
// word holds the search and the record of a task. A task is a job; its status comes later. The
// layout is part of the runtime's binary interface.
enum { ecs_flags_at = 4, ecs_owner_at = 6, ecs_resume_at = 7, ecs_context_at = 8, ecs_status_at = 12 };

extern SWIFT_CALL ecs_executor swift_task_getCurrentExecutor(void);
extern SWIFT_CALL void swift_job_run(void *job, void *identity, uintptr_t implementation);
extern SWIFT_CALL void swift_task_enqueue(void *job, ecs_executor executor);
extern SWIFT_CALL uint64_t swift_task_getJobTaskId(void *job);

/// Whether the calling thread is testing the layout of tasks; the test then owns the job.
bool ecs_layout_test_takes(void *job);
/// What the test has seen of a task that waits for another one, and of one that began with this
/// context and has thrown an error of this type.
void ecs_learn_waits(const void *task, const void *awaited);
void ecs_learn_errors(const void *context, const void *type);
/// The context of a task that has not begun.
const void *ecs_first_context(const void *task);
/// Whether the test has found the known layout.
bool ecs_may_read_tasks(void);

/// The actor that a job drains, or NULL.
void *ecs_drained(void *job);
/// The first job in the queue of an actor, or NULL.
void *ecs_first_in(void *actor);

typedef SWIFT_ASYNC_CALL void ecs_switch(
    ASYNC_CONTEXT void *context, ecs_resume *function, void *identity, uintptr_t implementation);

/// The executor on which the runtime suspends a task that the simulation resumes on `executor`.
ecs_executor ecs_suspending_executor_for(ecs_executor executor);
bool ecs_is_suspending_executor(const void *identity);

/// Copies memory if all of it is readable. The compiler decides the layout of a suspended task.
bool ecs_read(const void *from, void *to, size_t size);

// The block of memory that contains an address and begins with a word of this kind; NULL if none is
// found.
const void *ecs_block(const void *address, bool (*is_start)(uintptr_t word), size_t *size);

/// Whether the simulation, not an executor of the program, runs the calling thread's task.
bool ecs_runs_job(void);

/// Whether the calling task prefers a task executor.
bool ecs_prefers_executor(void);

/// Prints the schedule of the calling thread, which traps.
void ecs_report_trap(void);

/// The simulated time; negative for a thread outside of simulations.
int64_t ecs_now(void);

/// Sleeps in simulated time; returns false on a thread outside of simulations, and where the
/// simulation itself runs.
bool ecs_sleep(int64_t nanoseconds);

/// Writes random numbers of the schedule; returns false where the system has to.
bool ecs_fill(void *bytes, size_t count);

/// Notifies the simulation of a task that the calling thread created, and that begins with this
/// context; `frame` is a frame of that thread.
void ecs_did_create(const void *task, const void *context, const void *frame);

/// Notifies a simulation, if there is one, of what it does not control.
void ecs_did_meet(void *simulation, ecs_outside_use use);

/// Notifies the simulation of what the calling thread has done to other tasks; `task` is the one
/// that it has cancelled, or NULL. Does nothing outside of simulations.
void ecs_will_act(ecs_act act, const void *task);
void ecs_did_act(ecs_act act, ecs_yield yield);

/// The calling thread made a continuation of its task; it is about to resume one of a task, which
/// it must not if that is false.
void ecs_did_make_continuation(const void *task);
bool ecs_will_resume(const void *task);

/// Whether a wait of the calling thread for a condition takes place in a simulation.
bool ecs_waits(void);

/// Waits in the simulation until a lock is free or a condition signalled, or until a simulated
/// time.
ecs_end ecs_wait(ecs_lock lock, int64_t deadline);

/// Notifies the simulation of a signal to a condition; does nothing outside of simulations.
void ecs_did_signal(ecs_lock condition, bool to_all);
/// The calling thread is about to take a lock, and waits for it if it is taken, or to use a
/// condition; it has taken the lock; it has released it. It takes a lock that may not be the
/// program's. The lock or the condition at an address is gone. Each does nothing outside of
/// simulations.
void ecs_will_lock(ecs_lock lock, bool waits);
void ecs_did_lock(ecs_lock lock);
void ecs_will_lock_unseen(ecs_lock lock);
void ecs_did_unlock(ecs_lock lock);
void ecs_did_free_lock(ecs_lock lock);
/// Whether a caller is code of a library whose lock order the program cannot observe.
bool ecs_has_own_locks(const void *caller);
/// Whether a caller that uses a lock is code of the program, or uses it for the program.
bool ecs_locks_for_program(const void *caller);
/// Runs a closure of Swift on a new thread of the simulation, which may begin before the caller
/// continues if it may pause; false on a thread outside.
bool ecs_run_on_new_thread(void *function, void *context, bool may_pause);
/// Whether a caller is Dispatch itself, or C code of Foundation.
bool ecs_is_system(const void *caller);

/// The calling thread makes, uses or waits for a semaphore or a group of Dispatch.
void ecs_did_make(ecs_counter counter, intptr_t value, bool for_system);
bool ecs_will_use(ecs_counter counter, ecs_use use);
bool ecs_did_use(ecs_counter counter, ecs_use use);
ecs_end ecs_wait_for(ecs_counter counter, uint64_t limit);
void ecs_did_wait_outside(ecs_counter counter, uint64_t limit, bool was_taken);
void ecs_will_give_away(const char *name);
/// The calling thread leaves a group; `caller` is the calling code.
void ecs_leave_group(void *group, const void *caller);
void ecs_enter_group(void *group, const void *caller);

/// The simulator that runs the jobs of the calling thread, if it belongs to a simulation. Otherwise
/// notifies the simulation that created the queue.
const ecs_simulator *ecs_for_dispatch(const void *queue);
void ecs_did_make_queue(const void *queue, bool for_system);
/// The calling thread created a work item, which contains this group.
void ecs_did_make_item(const void *group);
/// Sets whether Dispatch's objects have the known layout.
void ecs_set_knows_dispatch(bool is_known);
bool ecs_asks_for_dispatch(void);
/// Whether a semaphore has fewer permits than at its creation. True if the layout is unknown.
bool ecs_semaphore_has_takers(const void *semaphore);
/// The group inside a work item; NULL for another block.
void *ecs_item_group(const void *block);
bool ecs_item_is_barrier(const void *block);

/// The calling simulated thread read a Dispatch clock, or derived a time from another.
void ecs_did_read(uint64_t time);
void ecs_did_add(uint64_t base, int64_t delta, uint64_t time);

/// The second at which a simulation begins: since 1970, on 1 January 2026; of uptime, after some 30
/// years, which no machine has, since a time from outside is recognized by its distance.
enum { ecs_first_date = 1767225600, ecs_first_uptime = 1000000000 };

/// The original of a function that this target interposes: of the given version, if there is one.
/// `known` caches it.
void *ecs_original(void **known, const char *name, const char *version);

/// Returns the last job that the calling thread enqueued in its simulation; replaces it by `job`.
const void *ecs_swap_taken(const void *job);

/// Between the two calls, tasks that the calling thread creates are no scheduling points.
void ecs_enter_once(void);
void ecs_leave_once(void);

/// The calling thread's task continues on an executor of the program's own.
void ecs_will_hand_over(void);

/// Counts a change of executor that is no scheduling point.
void ecs_did_miss(void);

#endif
