#ifndef ORDER_H
#define ORDER_H

#include "CAccesses.h"

// Accessed without a function call. Only a library loaded at run time must fit it into a small
// reserved space.
#ifdef __ELF__
#define ECS_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define ECS_THREAD_LOCAL _Thread_local
#endif

/// The simulated thread that the calling system thread runs.
typedef struct {
    /// NULL outside of simulations.
    ecs_order *order;
    void *simulation;
    uint32_t thread;
    uint32_t owner;
    uintptr_t end_of_stack;
    // Where the frames of the simulated thread begin.
    uintptr_t first_frame;
    /// Whether accesses are not examined, or only those of variables are not.
    uint32_t paused, unchecked;
    // The lock of a `Mutex` that it has just found taken.
    const void *refused;
    // Identifies the value that it has loaded or stored last; zero for an earlier one.
    uint32_t version;
    // Whether the atomic that it uses is no point of the schedule: it has its last value.
    bool is_quiet;
    // Whether it has written a variable that is not on its stack.
    bool did_write;
    // The registers for floating-point numbers that a function preserves.
    uint64_t preserved[8];
} ecs_own_thread;

extern ECS_THREAD_LOCAL ecs_own_thread ecs_own;
extern ecs_access_hooks ecs_hooks;

/// Memory orders as the compiler passes them.
enum { ecs_relaxed, ecs_consume, ecs_acquiring, ecs_releasing, ecs_acquiring_and_releasing, ecs_total };

/// Checks an access of `size` bytes by the calling thread.
void ecs_check(const void *address, size_t size, bool is_write, bool is_atomic, uintptr_t code);

/// A value of an atomic.
#ifdef __SIZEOF_INT128__
typedef unsigned __int128 ecs_value;
#else
typedef uint64_t ecs_value;
#endif

/// What the calling thread has done with an atomic, whose value in memory was `value` or `before`.
/// A load returns that, or an earlier value.
ecs_value ecs_did_load(const void *atomic, size_t size, ecs_value value, int order);
void ecs_did_store(const void *atomic, size_t size, ecs_value before, ecs_value after, int order);
void ecs_did_update(const void *atomic, size_t size, ecs_value before, ecs_value after, int order);
void ecs_did_fence(int order);
/// Whether more than the last value of an atomic is known.
bool ecs_has_values(const void *atomic);
/// Whether an exchange fails, with the order for that, since it finds another value than the
/// expected one: `value`, which is first the one in memory.
bool ecs_fails(const void *atomic, size_t size, ecs_value *value, ecs_value expected, int order);

#endif
