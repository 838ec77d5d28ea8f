#ifndef CACCESSES_H
#define CACCESSES_H

// Code that was compiled with `-Xfrontend -sanitize=thread` calls a function before each access of
// memory that threads may share. This target defines these functions for simulated threads. Outside
// of simulations they do nothing but the access.
//
// Of a variable it checks that something orders each two accesses of which one is a write. So two
// threads that use it need not come together there, and an access is no scheduling point. Of an
// atomic the order of all accesses makes a difference: each one is a scheduling point.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What the threads of one search have accessed in the running schedule, and what orders it.
typedef struct ecs_order ecs_order;

/// What an access does.
typedef enum { ecs_load = 0, ecs_store = 1, ecs_update = 2 } ecs_access_kind;

/// What an access of an atomic is to the schedule: nothing, not an atomic of the program; an access
/// of the last value, without a scheduling point; or an access at one.
typedef enum { ecs_unseen = 0, ecs_quiet = 1, ecs_seen = 2 } ecs_access_role;

/// One access of a variable.
typedef struct {
    /// The number of its simulated thread.
    uint32_t thread;
    bool is_write;
    bool is_atomic;
    /// The address of its code.
    uintptr_t code;
} ecs_access;

/// What a simulation does for the accesses of its threads. The first argument is that of
/// `ecs_order_enter`.
typedef struct {
    /// The calling thread is about to access an atomic. The address of the code helps to find out
    /// whether the atomic is the program's. `is_total`: it is sequentially consistent.
    ecs_access_role (*_Nonnull will_access)(
        void *_Nonnull simulation, const void *_Nonnull atomic, ecs_access_kind kind, bool is_total,
        uintptr_t code);
    /// The calling thread is about to pass a fence that is sequentially consistent.
    void (*_Nonnull will_fence)(void *_Nonnull simulation, uintptr_t code);
    /// Whether a load returns an earlier value, which its thread does not know to be overwritten.
    bool (*_Nonnull loads_earlier)(void *_Nonnull simulation, const void *_Nonnull atomic);
    /// It has done so; the values are those before and after. `version` identifies the value that
    /// it has stored, or loaded; zero if it has loaded an earlier one, or if that is not known.
    void (*_Nonnull did_access)(
        void *_Nonnull simulation, const void *_Nonnull atomic, ecs_access_kind kind, uint64_t before,
        uint64_t after, uint32_t version, uintptr_t code);
    /// The calling thread is about to take the lock of a `Mutex`, has taken it, has released it.
    void (*_Nonnull will_lock)(const uint32_t *_Nonnull mutex);
    void (*_Nonnull did_lock)(const uint32_t *_Nonnull mutex);
    void (*_Nonnull did_unlock)(const uint32_t *_Nonnull mutex);
    /// The start of the buffer of a collection that contains an address, if the calling thread is
    /// the only one that still has it: then its reference count orders what was done there.
    const void *_Nullable (*_Nonnull owned_buffer)(const void *_Nonnull address, size_t *_Nonnull size);
    /// Nothing orders an access of the calling thread, which is about to happen, with an earlier
    /// one.
    void (*_Nonnull did_race)(
        void *_Nonnull simulation, const void *_Nonnull variable, ecs_access access, ecs_access earlier);
    /// The atomic at an address is gone.
    void (*_Nonnull did_free)(void *_Nonnull simulation, const void *_Nonnull atomic);
} ecs_access_hooks;

/// Sets the hooks, once in a process.
void ecs_set_access_hooks(ecs_access_hooks hooks);

/// Whether a module of the program calls the functions.
bool ecs_tells_accesses(void);

/// For one search, which uses it on one thread at a time.
ecs_order *_Nonnull ecs_order_new(void);
void ecs_order_free(ecs_order *_Nonnull order);
/// Begins a schedule.
void ecs_order_restart(ecs_order *_Nonnull order);

/// The calling system thread runs a simulated one, until it leaves. Locks know the system thread by
/// the number `owner`.
void ecs_order_enter(
    ecs_order *_Nonnull order, void *_Nonnull simulation, uint32_t thread, uint32_t owner,
    const void *_Nullable end_of_stack);
void ecs_order_leave(void);
/// The order that the calling thread has entered.
ecs_order *_Nullable ecs_order_of_caller(void);
/// The state of the calling thread at a call: its registers, and its stack from there on. Zero if
/// it is not known.
uint64_t ecs_order_state(uintptr_t code);
/// Whether the calling thread has written variables since it last asked.
bool ecs_order_did_write(void);
/// All threads know the last value of each atomic: time has passed.
void ecs_order_settle(void);
/// What identifies the value of an atomic; zero if it is not known.
uint32_t ecs_order_version(const void *_Nullable atomic);
/// Whether two threads have accessed the same memory, in any schedule.
bool ecs_order_has_shared(const ecs_order *_Nonnull order);

/// What the calling thread has done precedes what follows a later `ecs_order_acquire` of the same
/// address.
void ecs_order_release(const void *_Nullable address);
void ecs_order_acquire(const void *_Nullable address);
/// All that has happened precedes what the calling thread does next.
void ecs_order_acquire_all(void);
/// What the calling thread has done precedes what another one does next.
void ecs_order_pass_to(uint32_t thread);
/// Whether the calling thread has just found the lock of a `Mutex` taken, in code that tells its
/// accesses.
bool ecs_order_did_refuse(const void *_Nonnull mutex);
/// Memory is freed: what was accessed there is of no interest any more.
void ecs_order_forget(const void *_Nonnull start, size_t size);
/// The calling thread is the only one that still has an object, at the start of this memory. What
/// others have done there precedes what it does next, by the object's reference count.
void ecs_order_own(const void *_Nonnull object, size_t size);
/// Whether others may have used the object since the calling thread was the only one that had it.
bool ecs_order_may_share(const void *_Nonnull object);

/// Between the two calls, which nest, accesses of the calling thread are not examined.
void ecs_accesses_pause(void);
void ecs_accesses_resume(void);

#endif
