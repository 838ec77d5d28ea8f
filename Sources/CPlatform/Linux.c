#if defined(__linux__)
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

void ec_wait(const void *word, uint32_t expected, int64_t deadline) {
    ec_refuse_wait_in_fork();
    struct timespec time = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
    // The variant with a bit set takes an absolute time of the monotonic clock.
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline == EC_NEVER ? (void *)0 : &time,
            (void *)0, FUTEX_BITSET_MATCH_ANY);
}

static int64_t (*real_clock)(void);

// Relaxed: the function is there before the program runs.
void ec_set_clock(int64_t (*clock)(void)) { __atomic_store_n(&real_clock, clock, __ATOMIC_RELAXED); }

int64_t ec_now(void) {
    int64_t (*clock)(void) = __atomic_load_n(&real_clock, __ATOMIC_RELAXED);
    if (clock) return clock();
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void ec_wake_one(const void *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, (void *)0, (void *)0, 0);
}

bool ec_is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }

static bool barrier_register(void) {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static bool barrier_pass(void) { return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0; }

// Runs on each processor once. A thread that was running there is switched out, which is a full
// barrier. A thread that was not running passed a barrier when it was switched out. A processor
// that the system refuses is not one of this process.
static bool visit_processors(void) {
    unsigned long before[128], one[128];
    const long bits = 8 * sizeof(unsigned long), count = sysconf(_SC_NPROCESSORS_CONF);
    long size = syscall(SYS_sched_getaffinity, 0, sizeof before, before);
    if (size <= 0 || count <= 0 || count > 128 * bits) return false;
    bool is_done = false;
    for (long cpu = 0; cpu < count; cpu++) {
        memset(one, 0, sizeof one);
        one[cpu / bits] = 1UL << (cpu % bits);
        if (syscall(SYS_sched_setaffinity, 0, sizeof one, one) == 0) {
            is_done = true;
        } else if (errno != EINVAL) {
            is_done = false;
            break;
        }
    }
    syscall(SYS_sched_setaffinity, 0, (size_t)size, before);
    return is_done;
}

void ec_barrier_prepare(void) {
// `-Xcc -DEC_PORTABLE` builds the mode of a kernel without the call, for tests and measurements.
#if !defined(EC_PORTABLE)
    if (barrier_register() && barrier_pass()) ec_mode_set(EC_MODE_PORTABLE, false);
#endif
}

void ec_barrier(void) {
    if (ec_mode() & EC_MODE_PORTABLE) return;
    if (barrier_pass()) return;
    // A process that was restored from a checkpoint has no registration any more.
    if (barrier_register() && barrier_pass()) return;
    // The mode does not become portable here: a thread that has just read the mode would not
    // notice.
    if (visit_processors()) return;
    fputs("ExecutionContexts: the system has refused membarrier and sched_setaffinity after the library started, "
          "so no memory barrier reaches the other threads (laws 14, 17). Allow one of the two calls in the sandbox, or "
          "enter the sandbox before the library's first use.\n", stderr);
    abort();
}

int64_t ec_thread_handle(void) { return syscall(SYS_gettid); }

ec_activity ec_thread_activity(int64_t handle) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%lld/stat", (long long)handle);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return ec_activity_unknown;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) return ec_activity_unknown;
    text[length] = 0;
    // The state follows the thread's name, which stands in parentheses and may contain any
    // character.
    const char *end = strrchr(text, ')');
    if (end == (void *)0 || end[1] != ' ') return ec_activity_unknown;
    if (end[2] == 'D') return ec_activity_paging;
    return end[2] == 'S' ? ec_activity_asleep : ec_activity_awake;
}

int64_t ec_thread_time(int64_t handle) {
    // The kernel's number for the clock of a thread's processor time. `pthread_getcpuclockid`
    // computes the same number from a `pthread_t`.
    clockid_t clock = (clockid_t)((~(unsigned int)handle << 3) | 6);
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void ec_thread_configure(const char *name, uint32_t quality) {
    (void)quality;
    // The system truncates the name after 15 bytes.
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

// Whether the process has a descriptor of this kind. Reading a link needs no descriptor. True if no
// link can be read.
static bool has_descriptor(const char *kind) {
    struct rlimit limit;
    // Those above the present limit were opened before it was lowered.
    int count = 1 << 20;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < (rlim_t)count) count = (int)limit.rlim_max;
    bool can_read = false;
    for (int file = 0; file < count; file++) {
        char path[32], target[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 0) continue;
        can_read = true;
        target[length] = 0;
        if (strcmp(target, kind) == 0) return true;
    }
    return !can_read;
}

// Dispatch keeps what it has opened. Others may have descriptors of the same kinds, so that only
// their absence says something.
bool ec_dispatch_can_begin(bool timers) {
    int files[] = {epoll_create1(EPOLL_CLOEXEC), eventfd(0, EFD_CLOEXEC),
                   timers ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC) : -1};
    bool can_open = files[0] >= 0 && files[1] >= 0 && (!timers || files[2] >= 0);
    for (int i = 0; i < 3; i++) {
        if (files[i] >= 0) close(files[i]);
    }
    return can_open || (has_descriptor("anon_inode:[eventpoll]") && (!timers || has_descriptor("anon_inode:[timerfd]")));
}

int32_t ec_processor_count(void) {
    // Asks for the first thread, because others may be pinned to a processor of their own. No
    // larger set than this is known.
    cpu_set_t allowed[16];
    memset(allowed, 0, sizeof allowed);
    size_t size = sizeof allowed;
    if (syscall(SYS_sched_getaffinity, getpid(), size, allowed) > 0) {
        int count = CPU_COUNT_S(size, allowed);
        if (count > 0) return count;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int32_t)online : 1;
}
#endif
