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
    /// Whether accesses are not examined, or only those of variables are not.
    uint32_t paused, unchecked;
    // The lock of a `Mutex` that it has just found taken.
    const void *refused;
} ecs_own_thread;

extern ECS_THREAD_LOCAL ecs_own_thread ecs_own;
extern ecs_access_hooks ecs_hooks;

/// Memory orders as the compiler passes them.
enum { ecs_relaxed, ecs_consume, ecs_acquiring, ecs_releasing, ecs_acquiring_and_releasing, ecs_total };

/// Checks an access of `size` bytes by the calling thread.
void ecs_check(const void *address, size_t size, bool is_write, bool is_atomic, uintptr_t code);

/// What an operation of the calling thread on an atomic orders, after it.
void ecs_did_load(const void *atomic, int order);
void ecs_did_store(const void *atomic, int order);
void ecs_did_update(const void *atomic, int order);
void ecs_did_fence(int order);

#endif
