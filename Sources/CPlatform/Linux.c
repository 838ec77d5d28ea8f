#if defined(__linux__)
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "CPlatform.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void ec_wait(const void *word, uint32_t expected, int64_t deadline) {
    struct timespec time = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
    // The variant with a bit set takes an absolute time of the monotonic clock.
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline == EC_NEVER ? (void *)0 : &time,
            (void *)0, FUTEX_BITSET_MATCH_ANY);
}

void ec_wake_one(const void *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, (void *)0, (void *)0, 0);
}

bool ec_is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }

void ec_barrier_prepare(void) {
// `-Xcc -DEC_PORTABLE` builds what a kernel without the call gets, to be tested and measured.
#if !defined(EC_PORTABLE)
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {
        ec_mode_set(EC_MODE_PORTABLE, false);
    }
#endif
}

void ec_barrier(void) {
    if (ec_mode() & EC_MODE_PORTABLE) return;
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

int64_t ec_thread_handle(void) { return syscall(SYS_gettid); }

bool ec_thread_sleeps(int64_t handle) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%lld/stat", (long long)handle);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) return false;
    text[length] = 0;
    // The state comes behind the thread's name, which stands in parentheses and may contain any.
    const char *end = strrchr(text, ')');
    return end != (void *)0 && end[1] == ' ' && (end[2] == 'S' || end[2] == 'D');
}

void ec_pin(uint32_t number) {
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
#endif
