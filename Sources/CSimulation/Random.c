#ifdef __linux__
// For RTLD_NEXT.
#define _GNU_SOURCE
#include "Interposition.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

// What differs from run to run in a program that has no other input: random numbers, and the order
// of sets and dictionaries. In a simulation each schedule has the same.

// The runtime gets random numbers from the kernel by this function.
static void *real_syscall;
// Early: it may be called where nothing can be looked up, as in the handler of a signal.
__attribute__((constructor(101))) static void find_syscall(void) { ecs_original(&real_syscall, "syscall", NULL); }

// The caller may have passed fewer than six arguments: the other words are anything, and the kernel
// ignores them. And the thread may be one that ends, which the thread sanitizer no longer knows.
NO_SANITIZER __attribute__((weak)) long syscall(long number, ...) {
    long words[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) words[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_getrandom && ecs_fill((void *)words[0], (size_t)words[1])) return words[1];
    // The kernel would answer for the system thread that runs this one. Locks hold the number.
    if (number == SYS_gettid && ecs_own_number()) return ecs_own_number();
    // Locks that inherit priorities: the kernel compares their owner with the system thread.
    if (number == SYS_futex) {
        int use = (int)words[1] & FUTEX_CMD_MASK;
        if ((use >= FUTEX_LOCK_PI && use <= FUTEX_TRYLOCK_PI) || use >= FUTEX_WAIT_REQUEUE_PI) ecs_go_home();
    }
    void *real = __atomic_load_n(&real_syscall, __ATOMIC_RELAXED);
    if (!real) real = ecs_original(&real_syscall, "syscall", NULL);
    return ((long (*)(long, ...))real)(
        number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

NO_SANITIZER __attribute__((weak)) pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

typedef struct {
    uint8_t bytes[16];
} uuid;
typedef SWIFT_CALL uuid make_uuid(void);
make_uuid ecs_make_uuid __asm__("$s20FoundationEssentials4UUIDVACycfC");

// What differs between processes in the UUIDs of their simulations: files are named by them.
static uuid own;
__attribute__((constructor)) static void make_own(void) { syscall(SYS_getrandom, &own, sizeof own, 0); }

// Foundation reads those of a UUID from a file.
__attribute__((weak)) SWIFT_CALL uuid ecs_make_uuid(void) {
    uuid made;
    if (ecs_fill(&made, sizeof made)) {
        for (size_t i = 0; i < sizeof made; i++) made.bytes[i] ^= own.bytes[i];
    } else {
        static make_uuid *known;
        make_uuid *real = __atomic_load_n(&known, __ATOMIC_RELAXED);
        if (!real) real = (make_uuid *)dlsym(RTLD_NEXT, "$s20FoundationEssentials4UUIDVACycfC");
        __atomic_store_n(&known, real, __ATOMIC_RELAXED);
        if (real) return real();
        // Foundation is linked statically, and the linker chose this function for it.
        syscall(SYS_getrandom, &made, sizeof made, 0);
    }
    // Version 4, variant 1.
    made.bytes[6] = (made.bytes[6] & 0x0f) | 0x40;
    made.bytes[8] = (made.bytes[8] & 0x3f) | 0x80;
    return made;
}

// The seeds stay as they are, since the tables that exist depend on them.
void ecs_fix_order_of_tables(void) {
    struct {
        uint64_t seeds[2];
        bool is_deterministic;
    } *parameters = dlsym(RTLD_DEFAULT, "_swift_stdlib_Hashing_parameters");
    if (parameters) __atomic_store_n(&parameters->is_deterministic, true, __ATOMIC_RELAXED);
}
#endif
