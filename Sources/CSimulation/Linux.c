#ifdef __linux__
// For RTLD_NEXT.
#define _GNU_SOURCE
#include "Interposition.h"

#include <CAccesses.h>

#include <CPlatform.h>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

// Threads that look up the function at the same time store the same value.
void *ecs_original(void **known, const char *name, const char *version) {
    void *function = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!function) {
#ifdef __GLIBC__
        if (version) function = dlvsym(RTLD_NEXT, name, version);
#else
        (void)version;
#endif
        if (!function) function = dlsym(RTLD_NEXT, name);
        if (!function) {
            // In a program with a static runtime, the linker chose this target's function for it.
            fprintf(stderr, "'%s' is not in a shared library, so a simulation cannot call the original (law 33). "
                            "Link the program without --static-swift-stdlib.\n", name);
            abort();
        }
        __atomic_store_n(known, function, __ATOMIC_RELAXED);
    }
    return function;
}

// A change of executor on one thread passes no hook. Compiled code calls this function through the
// dynamic linker, so this definition in the program precedes the runtime's. It is weak: where the
// runtime is linked statically the runtime's own wins, and changes are not intercepted.
ecs_switch swift_task_switch;

__attribute__((weak)) SWIFT_ASYNC_CALL void swift_task_switch(
    ASYNC_CONTEXT void *context, ecs_resume *function, void *identity, uintptr_t implementation) {
    static void *known;
    ecs_switch *runtime = (ecs_switch *)ecs_original(&known, "swift_task_switch", NULL);
    if (!ecs_current() || ecs_is_suspending_executor(identity))
        __attribute__((musttail)) return runtime(context, function, identity, implementation);
    void *executor = swift_task_getCurrentExecutor().identity;
    if (ecs_runs_job() ? executor == identity && (identity || !ecs_prefers_executor())
                       : executor == identity && identity) {
        // The task stays where it is. The callee does not read the further arguments.
        __attribute__((musttail)) return ((ecs_switch *)(void *)function)(context, function, identity, implementation);
    }
    // Where an executor of the program runs the task, the runtime knows whether it stays there.
    // Actors belong to the simulation.
    if (!ecs_runs_job() && (!identity || implementation)) {
        ecs_did_miss();
        __attribute__((musttail)) return runtime(context, function, identity, implementation);
    }
    // An executor object decides itself, and so does the one that the task prefers.
    if (!implementation && (identity || !ecs_prefers_executor())) {
        ecs_executor suspending_executor = ecs_suspending_executor_for((ecs_executor){identity, 0});
        identity = suspending_executor.identity;
        implementation = suspending_executor.implementation;
    } else if (ecs_runs_job()) {
        ecs_will_hand_over();
    }
    __attribute__((musttail)) return runtime(context, function, identity, implementation);
}

#if !__has_feature(thread_sanitizer)
typedef struct {
    void *task;
    void *context;
} new_task;
typedef SWIFT_CALL new_task ecs_create(
    size_t flags, void *options, const void *type, void *function, void *context);
ecs_create swift_task_create;

// A new task may run before the code that created it continues: a scheduling point.
__attribute__((weak)) SWIFT_CALL new_task swift_task_create(
    size_t flags, void *options, const void *type, void *function, void *context) {
    static void *known;
    new_task task = ((ecs_create *)ecs_original(&known, "swift_task_create", NULL))(flags, options, type, function, context);
    ecs_did_create(task.task, task.context, __builtin_frame_address(0));
    return task;
}

typedef SWIFT_CALL void ecs_begin_async_let(
    void *record, void *options, const void *type, void *function, void *context, void *result);
ecs_begin_async_let swift_asyncLet_begin;

// The same for `async let`, whose task the runtime creates and enqueues.
__attribute__((weak)) SWIFT_CALL void swift_asyncLet_begin(
    void *record, void *options, const void *type, void *function, void *context, void *result) {
    static void *known;
    const void *outer = ecs_swap_taken(NULL);
    ((ecs_begin_async_let *)ecs_original(&known, "swift_asyncLet_begin", NULL))(
        record, options, type, function, context, result);
    const void *task = ecs_swap_taken(outer);
    if (task && ecs_is_task(task)) ecs_did_create(task, ecs_first_context(task), __builtin_frame_address(0));
}
#endif

bool ecs_takes_switches(void) {
    // Where this target is in a library, the runtime may precede it.
    void *first = dlsym(RTLD_DEFAULT, "swift_task_switch");
    Dl_info image, own;
    if (!dladdr(first, &image) || !dladdr((void *)ecs_takes_switches, &own)) return false;
    return image.dli_fbase == own.dli_fbase && dlsym(RTLD_NEXT, "swift_task_switch");
}

bool ecs_sees_all(void) {
#if __has_feature(thread_sanitizer)
    return false;
#else
    return ecs_takes_switches();
#endif
}

bool ecs_read(const void *from, void *to, size_t size) {
    struct iovec source = {(void *)from, size}, target = {to, size};
    // The kernel reports unreadable memory as an error, not as a signal.
    return process_vm_readv(getpid(), &target, 1, &source, 1, 0) == (ssize_t)size;
}

// The libraries whose code is located in memory: Dispatch, the runtime, the test libraries, what
// Foundation consists of, Foundation itself, and the concurrency runtime.
static const char *const names[] = {
    "libdispatch", "libswiftCore", "libTesting", "libXCTest", "libFoundationEssentials",
    "libFoundationInternationalization", "libFoundationNetworking", "lib_FoundationICU", "libFoundation.so",
    "libswift_Concurrency"};
enum { library_count = sizeof names / sizeof *names, at_core = 1, at_xctest = 3, at_foundation = 8, at_concurrency };
static struct {
    uintptr_t start, end;
} libraries[library_count];

static int find_image(struct dl_phdr_info *image, size_t size, void *context) {
    (void)size, (void)context;
    for (int library = 0; library < library_count; library++) {
        if (!strstr(image->dlpi_name, names[library])) continue;
        for (int i = 0; i < image->dlpi_phnum; i++) {
            if (image->dlpi_phdr[i].p_type != PT_LOAD || !(image->dlpi_phdr[i].p_flags & PF_X)) continue;
            libraries[library].start = image->dlpi_addr + image->dlpi_phdr[i].p_vaddr;
            libraries[library].end = libraries[library].start + image->dlpi_phdr[i].p_memsz;
        }
    }
    return 0;
}

static bool contains(int library, const void *caller) {
    return (uintptr_t)caller >= libraries[library].start && (uintptr_t)caller < libraries[library].end;
}

// The runtime locks what it creates once for each type, a test library what it records for each
// error, and Foundation its caches. The program cannot observe the order of these locks.
bool ecs_has_own_locks(const void *caller) {
    for (int library = 1; library < at_foundation; library++)
        if (contains(library, caller)) return true;
    return false;
}

// The functions of time, and some of threads, precede those of a sanitizer, which are weak, too.
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define PRECEDING
#else
#define PRECEDING __attribute__((weak))
#endif

// The address of a function of Foundation's classes of locks.
static uintptr_t class_of_locks;

// Runs before the first simulation; the libraries are loaded with the program.
__attribute__((constructor)) static void find_images(void) {
    dl_iterate_phdr(find_image, NULL);
    class_of_locks = (uintptr_t)dlsym(RTLD_DEFAULT, "$s10Foundation6NSLockC4lockyyF");
}

// The library's own waits are in real time, and need the system's clock.
static int64_t system_now(void) { return ecs_real_time(ecs_uptime); }
__attribute__((constructor)) static void keep_clock(void) { ec_set_clock(system_now); }

bool ecs_is_xctest(const void *caller) { return contains(at_xctest, caller); }

// Dispatch serves all threads of the process, by the real clock.
static bool is_dispatch(const void *caller) { return contains(0, caller); }

// Foundation's classes of locks take them for the program; what else Foundation locks is its own.
// The functions of one source file are next to each other, and most have no symbol.
static bool is_class_of_locks(const void *caller) {
    enum { size_of_file = 1 << 13 };
    return class_of_locks - (uintptr_t)caller < size_of_file || (uintptr_t)caller - class_of_locks < size_of_file;
}

bool ecs_locks_for_program(const void *caller) {
    // Linked statically, the runtime is not to be told from the program.
    if (!libraries[at_core].end || ecs_has_own_locks(caller) || contains(at_concurrency, caller)) return false;
    return !contains(at_foundation, caller) || is_class_of_locks(caller);
}

// Foundation's Swift code calls Dispatch through its Swift library, as the program does. Its C code
// does not, and creates what it needs once in a process. The concurrency runtime submits jobs of
// its own.
bool ecs_is_system(const void *caller) {
    return is_dispatch(caller) || contains(at_foundation, caller) || contains(at_concurrency, caller);
}

int ecs_system_clock(clockid_t clock, struct timespec *time) {
    static void *known;
    return ((int (*)(clockid_t, struct timespec *))ecs_original(&known, "clock_gettime", NULL))(clock, time);
}

// The system's clocks show simulated threads the simulated time. Dates begin at midnight of 1
// January 2026, other clocks at one day of uptime.
PRECEDING int clock_gettime(clockid_t clock, struct timespec *time) {
    int64_t now = ecs_now();
    if (now < 0 || is_dispatch(__builtin_return_address(0))) return ecs_system_clock(clock, time);
    int64_t start = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? ecs_first_date : ecs_first_uptime;
    time->tv_sec = start + now / 1000000000;
    time->tv_nsec = now % 1000000000;
    return 0;
}

// The other clocks of the system show the same date.
PRECEDING time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

PRECEDING int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    static void *known;
    typedef int function(struct timeval *, void *);
    if (ecs_now() < 0) return ((function *)ecs_original(&known, "gettimeofday", NULL))(result, zone);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *result = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

// What `swift_once` of the runtime calls, where the runtime is linked statically: then nothing else
// in it needs `swift_once`, so the linker takes the definition below.
extern void once_slow(void *predicate, void (*make)(void *), void *context)
    __asm__("_ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_") __attribute__((weak));

// The initialization of a static variable cannot wait for another thread, which might need the
// variable.
__attribute__((weak)) void swift_once(void *predicate, void (*make)(void *), void *context) {
    static void *known;
    typedef void function(void *, void (*)(void *), void *);
    // Negative: it is initialized. Acquiring: the value is visible.
    if (once_slow && __atomic_load_n((int *)predicate, __ATOMIC_ACQUIRE) < 0) return;
    ecs_enter_once();
    function *runtime = once_slow ? once_slow : (function *)ecs_original(&known, "swift_once", NULL);
    runtime(predicate, make, context);
    ecs_leave_once();
}

static int64_t nanoseconds(const struct timespec *time) {
    // More than a horizon is long enough, and does not overflow.
    return time->tv_sec > 4000000000 ? INT64_MAX / 2 : time->tv_sec * 1000000000 + time->tv_nsec;
}

// A job that blocks its thread for a time sleeps in simulated time.
PRECEDING int nanosleep(const struct timespec *time, struct timespec *rest) {
    static void *known;
    if (ecs_current() && !is_dispatch(__builtin_return_address(0)) && ecs_sleep(nanoseconds(time))) return 0;
    return ((int (*)(const struct timespec *, struct timespec *))ecs_original(&known, "nanosleep", NULL))(time, rest);
}

PRECEDING int usleep(useconds_t microseconds) {
    static void *known;
    if (ecs_current() && !is_dispatch(__builtin_return_address(0)) && ecs_sleep((int64_t)microseconds * 1000)) return 0;
    return ((int (*)(useconds_t))ecs_original(&known, "usleep", NULL))(microseconds);
}

// Foundation's C code spins on its own locks with `sleep(0)`. A thread outside holds such a lock
// for an instant, and the schedule must not depend on that: it is awaited in real time, for some
// 0.1 s. Whatever holds it longer is a paused thread of the simulation, which a simulated sleep
// lets run.
static bool awaits_outside(unsigned seconds, const void *caller) {
    enum { most_spins = 1000 };
    static ECS_THREAD_LOCAL unsigned spins;
    static void *known;
    if (seconds || !ecs_current() || !contains(at_foundation, caller) || ++spins % most_spins == 0) return false;
    struct timespec moment = {0, 50000};
    ((int (*)(const struct timespec *, struct timespec *))ecs_original(&known, "nanosleep", NULL))(&moment, NULL);
    return true;
}

PRECEDING unsigned sleep(unsigned seconds) {
    static void *known;
    if (awaits_outside(seconds, __builtin_return_address(0))) return 0;
    if (ecs_current() && !is_dispatch(__builtin_return_address(0)) && ecs_sleep((int64_t)seconds * 1000000000)) return 0;
    return ((unsigned (*)(unsigned))ecs_original(&known, "sleep", NULL))(seconds);
}

// Whether the simulation pinned the calling thread to one processor.
static ECS_THREAD_LOCAL bool is_pinned;
void ecs_pin(uint32_t number) {
    is_pinned = true;
    cpu_set_t allowed, chosen;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
    int left = (int)(number % (uint32_t)CPU_COUNT(&allowed));
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || left-- > 0) continue;
        CPU_ZERO(&chosen);
        CPU_SET(cpu, &chosen);
        sched_setaffinity(0, sizeof chosen, &chosen);
        return;
    }
}

#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
// A new thread inherits the processors of its creator. A thread that a pinned thread creates, such
// as a worker of Dispatch, runs jobs of the whole process: it gets those of the first thread.
__attribute__((weak)) int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    static void *known;
    typedef int function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    function *system = (function *)ecs_original(&known, "pthread_create", NULL);
    ecs_did_meet(ecs_current(), ecs_starts_thread);
    cpu_set_t own, all;
    bool widens = is_pinned && !sched_getaffinity(getpid(), sizeof all, &all)
        && !sched_getaffinity(0, sizeof own, &own) && !sched_setaffinity(0, sizeof all, &all);
    int result = system(thread, attributes, start, argument);
    if (widens) sched_setaffinity(0, sizeof own, &own);
    return result;
}
#endif

#if ECS_EXCHANGES
// Whether a debugger runs the program: it looks for each thread where the kernel has it.
static bool is_traced(void) {
    bool found = false;
    char line[128];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && !found && fgets(line, sizeof line, file)) found = !strncmp(line, "TracerPid:", 10) && atoi(line + 10);
    if (file) fclose(file);
    return found;
}

static bool may_exchange;
__attribute__((constructor)) static void find_exchange(void) {
    const char *value = getenv("EXECUTION_CONTEXTS_SWITCHES");
    may_exchange = !(value && !strcmp(value, "system")) && !is_traced();
    pthread_atfork(NULL, NULL, ecs_forget_token);
    pthread_atfork(NULL, NULL, ecs_order_leave);
#ifdef __x86_64__
    enum { has_thread_pointer = 1 << 1 };
    // The processor may keep a second stack of the returns, which the kernel alone can change.
    uint64_t shadow = 0;
    __asm__("rdsspq %0" : "+r"(shadow));
    may_exchange = may_exchange && (getauxval(AT_HWCAP2) & has_thread_pointer) && !shadow;
#endif
}

bool ecs_may_exchange(void) { return may_exchange; }

// What the kernel keeps for a system thread: the signals that it blocks, and its name.
PRECEDING int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    static void *known;
    if (set) ecs_stay_home();
    return ((int (*)(int, const sigset_t *, sigset_t *))ecs_original(&known, "pthread_sigmask", NULL))(how, set, old);
}

PRECEDING int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    static void *known;
    if (set) ecs_stay_home();
    return ((int (*)(int, const sigset_t *, sigset_t *))ecs_original(&known, "sigprocmask", NULL))(how, set, old);
}

PRECEDING int pthread_setname_np(pthread_t thread, const char *name) {
    static void *known;
    if (pthread_equal(thread, pthread_self())) ecs_go_home();
    return ((int (*)(pthread_t, const char *))ecs_original(&known, "pthread_setname_np", NULL))(thread, name);
}

PRECEDING int pthread_getname_np(pthread_t thread, char *name, size_t size) {
    static void *known;
    if (pthread_equal(thread, pthread_self())) ecs_go_home();
    return ((int (*)(pthread_t, char *, size_t))ecs_original(&known, "pthread_getname_np", NULL))(thread, name, size);
}
#endif

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
// Keeps the frames of the calling thread, and little else: a process has some 65,000 memory
// mappings. A stack without a guard page shares one mapping with its neighbour.
static void keep_frames(void) {
    pthread_attr_t attributes;
    void *start;
    size_t size, guard;
    if (pthread_getattr_np(pthread_self(), &attributes)) return;
    if (!pthread_attr_getstack(&attributes, &start, &size) && !pthread_attr_getguardsize(&attributes, &guard)) {
        mprotect((char *)start - guard, guard, PROT_READ | PROT_WRITE);
        // The memory below the frames is unused, except by the functions called here.
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        char *end = (char *)(((uintptr_t)__builtin_frame_address(0) & ~(page - 1)) - 4 * page);
        if (end > (char *)start) madvise(start, (size_t)(end - (char *)start), MADV_DONTNEED);
    }
    pthread_attr_destroy(&attributes);
}
#endif

_Noreturn void ecs_end_thread(void) {
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
    // Not pthread_exit, which runs the cleanup of frames that are in use, and frees the stack.
    ecs_free_signal_stack();
    keep_frames();
    syscall(SYS_exit, 0);
#endif
    for (;;) pause();
}
#endif
