#include "CPlatform.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Thread_local ec_frame *ec_frame_storage = 0;
_Thread_local void *ec_job_queue_storage = 0;
_Thread_local uint32_t ec_call_depth_storage = 0;
_Thread_local const void *ec_tail_callee_storage = 0;
_Thread_local void *ec_deferred_calls_storage = 0;
_Thread_local void *ec_freeing_storage = 0;
_Thread_local ec_thread *ec_thread_storage = 0;
_Thread_local const void *ec_blocking_scope_storage = 0;
_Thread_local ec_thread *ec_caller_storage = 0;
_Thread_local const ec_caller_task *ec_caller_task_storage = 0;
_Thread_local const void *ec_sync_source_storage = 0;

uint32_t ec_mode_storage = EC_MODE_PORTABLE;

const char ec_known_code = 0;

void ec_mode_set(uint32_t mode, bool is_on) {
    if (is_on) {
        __atomic_fetch_or(&ec_mode_storage, mode, __ATOMIC_SEQ_CST);
    } else {
        __atomic_fetch_and(&ec_mode_storage, ~mode, __ATOMIC_SEQ_CST);
    }
}

void ec_write_error(const void *text, size_t length) {
    while (write(STDERR_FILENO, text, length) < 0 && errno == EINTR) {}
}

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void (*thread_ended)(ec_thread *);

static void ended(void *thread) { __atomic_load_n(&thread_ended, __ATOMIC_ACQUIRE)((ec_thread *)thread); }

static void forget_trap_users(void);
static void forked(void) {
    forget_trap_users();
    ec_mode_set(EC_MODE_FORKED, true);
}

void ec_refuse_wait_in_fork(void) {
    if ((ec_mode() & EC_MODE_FORKED) == 0) return;
    fputs("ExecutionContexts: a forked child was about to wait for a lock or a result, which only a thread of its "
          "parent could provide, and it has none of these (law 34). Call exec in the child, or fork before the "
          "library's first use.\n", stderr);
    abort();
}

static void prepare(void) {
    pthread_atfork((void *)0, (void *)0, forked);
    pthread_key_create(&key, ended);
    ec_barrier_prepare();
}

void ec_prepare(void) { pthread_once(&once, prepare); }

ec_thread *ec_thread_recall(void) {
    ec_prepare();
    ec_thread *thread = pthread_getspecific(key);
    if (thread) {
        ec_thread_storage = thread;
        if (ec_caller_storage == 0) ec_caller_storage = thread;
    }
    return thread;
}

// Read and written by the first thread.
static bool main_thread_has_ended;

void ec_main_thread_ended(void) { main_thread_has_ended = true; }

void ec_thread_attach(ec_thread *thread, void (*callback)(ec_thread *)) {
    // Releasing: pairs with the load in `ended`. Every thread stores the same function, so the
    // order of the stores does not matter.
    __atomic_store_n(&thread_ended, callback, __ATOMIC_RELEASE);
    ec_prepare();
    bool is_first = ec_is_main_thread();
    thread->is_main = is_first && !main_thread_has_ended;
    thread->was_main = is_first && main_thread_has_ended;
    pthread_setspecific(key, thread);
    ec_thread_storage = thread;
    if (ec_caller_storage == 0) ec_caller_storage = thread;
}

// From the Swift runtime, whose header is not available: the stable interface by which compiled
// code counts references and reads a `weak` variable.
extern void *swift_retain(void *object);
extern void swift_release(void *object);
extern void *swift_tryRetain(void *object);

void ec_retain(void *object) { swift_retain(object); }
void ec_release(void *object) { swift_release(object); }
void *ec_try_retain(void *object) { return swift_tryRetain(object); }

// From the runtime of tasks, where the standard library finds them as well. Here without the
// optional `TaskPriority`, whose size is known at run time only.
extern __attribute__((swiftcall)) void *swift_task_getCurrent(void);
extern __attribute__((swiftcall)) size_t swift_task_currentPriority(void *task);
extern __attribute__((swiftcall)) bool swift_task_isCancelled(const void *task);

const void *ec_task_current(void) { return swift_task_getCurrent(); }

bool ec_task_is_cancelled(const void *task) { return task && swift_task_isCancelled(task); }

uint8_t ec_task_priority(void) {
    void *task = swift_task_getCurrent();
    return task ? (uint8_t)swift_task_currentPriority(task) : 0;
}

uintptr_t ec_code_of(const void *code, const void *captures) {
    (void)captures;
    return (uintptr_t)code;
}

void ec_print_error(const char *text) {
    fprintf(stderr, "%s\n", text);
    fflush(stderr);
}

bool ec_thread_start(void *(*body)(void *), void *argument) {
    // A new thread inherits the mask: signals sent to the process belong to the program's own
    // threads. A signal that a fault of the new thread raises must reach it.
    sigset_t mask, previous;
    sigfillset(&mask);
    static const int faults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) sigdelset(&mask, faults[index]);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &mask, &previous);
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, body, argument);
    pthread_sigmask(SIG_SETMASK, &previous, (void *)0);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

// Dispatch's checks trap, and some systems print nothing of it. The handler is there only while a
// thread checks, so the process keeps its own at all other times.
static const int traps[2] = {SIGILL, SIGTRAP};
static struct sigaction traps_before[2];
// Not a lock of the system, which a simulation would see. It is held for two system calls.
static atomic_flag trap_lock = ATOMIC_FLAG_INIT;
static int trap_users;
static _Thread_local void (*trap_stop)(void *);
static _Thread_local void *trap_context;

static void trapped(int number, siginfo_t *info, void *machine) {
    (void)machine;
    void (*stop)(void *) = trap_stop;
    trap_stop = 0;
    // From here on the process does what it does by itself.
    for (int i = 0; i < 2; i++) sigaction(traps[i], &traps_before[i], 0);
    // Sent by a call, not by an instruction that would run again.
    if (info->si_code <= 0) raise(number);
    else if (stop) stop(trap_context);
}

static bool is_trapped(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == trapped;
}

static void begin_trap(int number, struct sigaction *before) {
    // Not blocked in its own handler: the trap that follows the message is the process's.
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = trapped;
    action.sa_flags = SA_NODEFER | SA_SIGINFO;
    sigaction(number, &action, before);
    // Other code has put back what it found during an earlier check.
    if (is_trapped(before)) {
        memset(before, 0, sizeof *before);
        before->sa_handler = SIG_DFL;
    }
}

static void end_trap(int number, const struct sigaction *before) {
    struct sigaction now;
    sigaction(number, 0, &now);
    // Another one was set meanwhile, and stays.
    if (is_trapped(&now)) sigaction(number, before, 0);
}

void ec_replace_trap(void (*check)(void *), void (*stop)(void *), void *context) {
    while (atomic_flag_test_and_set_explicit(&trap_lock, memory_order_acquire)) sched_yield();
    if (trap_users++ == 0) {
        for (int i = 0; i < 2; i++) begin_trap(traps[i], &traps_before[i]);
    }
    atomic_flag_clear_explicit(&trap_lock, memory_order_release);
    // A check may make another one.
    void *outer_context = trap_context;
    void (*outer_stop)(void *) = trap_stop;
    trap_context = context;
    trap_stop = stop;
    check(context);
    trap_stop = outer_stop;
    trap_context = outer_context;
    while (atomic_flag_test_and_set_explicit(&trap_lock, memory_order_acquire)) sched_yield();
    if (--trap_users == 0) {
        for (int i = 0; i < 2; i++) end_trap(traps[i], &traps_before[i]);
    }
    atomic_flag_clear_explicit(&trap_lock, memory_order_release);
}

// The thread that had the lock is the parent's.
static void forget_trap_users(void) {
    trap_users = 0;
    atomic_flag_clear_explicit(&trap_lock, memory_order_relaxed);
}
