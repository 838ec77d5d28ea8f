#include "Order.h"

// With the sanitizer itself, its own functions are called.
#if !__has_feature(thread_sanitizer)

#define HOOK __attribute__((weak, visibility("default")))
#define CODE ((uintptr_t)__builtin_return_address(0) - 1)

// The operations themselves are as strong as there are: a thread outside may use the atomic, too.
// No other simulated thread runs between a scheduling point and the operation that follows it.

static void keep_registers(void) {
#ifdef __aarch64__
    uint64_t *to = ecs_own.preserved;
    __asm__ volatile("stp d8, d9, [%0]\n stp d10, d11, [%0, #16]\n stp d12, d13, [%0, #32]\n stp d14, d15, [%0, #48]"
                     : : "r"(to) : "memory");
#endif
}

// What the access that follows is to the schedule, whose scheduling point it has passed.
static ecs_access_role begin(const void *atomic, size_t size, ecs_access_kind kind, int order, uintptr_t code) {
    if (__builtin_expect(!ecs_own.order || ecs_own.paused, 1)) return ecs_unseen;
    ecs_own.refused = NULL;
    keep_registers();
    ecs_access_role role = ecs_hooks.will_access(ecs_own.simulation, atomic, kind, order == ecs_total, code);
    ecs_own.is_quiet = role == ecs_quiet;
    if (role == ecs_seen && !ecs_own.unchecked) ecs_check(atomic, size, kind != ecs_load, true, code);
    return role;
}

static void tell(const void *atomic, ecs_access_kind kind, uint64_t before, uint64_t after, uintptr_t code) {
    if (ecs_own.is_quiet) return;
    ecs_hooks.did_access(ecs_own.simulation, atomic, kind, before, after, ecs_own.version, code);
}

// The lock of a `Mutex` is inlined: its word becomes the number of the owner, and zero again.
static bool is_lock(uint64_t expected, uint64_t desired, int order) {
    return ecs_own.order && !ecs_own.paused && !expected && desired && desired == ecs_own.owner
        && order == ecs_acquiring;
}
static bool is_unlock(uint64_t expected, uint64_t desired, int order) {
    return ecs_own.order && !ecs_own.paused && expected && !desired && expected == ecs_own.owner
        && order == ecs_releasing;
}

static uint32_t exchange_owner(uint32_t *mutex, uint32_t expected, uint32_t desired, uintptr_t code) {
    bool locks = desired != 0;
    if (locks) ecs_hooks.will_lock(mutex);
    else ecs_order_release(mutex);
    // That it is an atomic: its number is forgotten with its memory.
    if (!ecs_own.unchecked) ecs_check(mutex, sizeof *mutex, true, true, code);
    // A lock that is otherwise used as an atomic has values.
    bool has_values = ecs_has_values(mutex);
    uint32_t found = expected;
    bool is_done = __atomic_compare_exchange_n(mutex, &found, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    ecs_own.refused = is_done || !locks ? NULL : mutex;
    if (is_done && has_values)
        ecs_did_update(mutex, sizeof *mutex, expected, desired, locks ? ecs_acquiring : ecs_releasing);
    if (is_done && locks) {
        ecs_order_acquire(mutex);
        ecs_hooks.did_lock(mutex);
    }
    // Where the word has a mark of the kernel, the library unlocks it by a call that follows.
    if (!locks) ecs_hooks.did_unlock(mutex);
    return is_done ? expected : found;
}

#define UPDATE(bits, type, name, after) \
    HOOK type __tsan_atomic##bits##_##name(volatile type *atomic, type value, int order) { \
        const void *address = (const void *)(uintptr_t)atomic; \
        bool is_seen = ecs_unseen != begin(address, sizeof(type), ecs_update, order, CODE); \
        type old = FETCH_##bits(atomic, name, value), new = (type)(after); \
        if (is_seen) { \
            ecs_did_update(address, sizeof(type), old, new, order); \
            tell(address, ecs_update, (uint64_t)old, (uint64_t)new, CODE); \
        } \
        return old; \
    }

#define ATOMICS(bits, type) \
    HOOK type __tsan_atomic##bits##_load(const volatile type *atomic, int order) { \
        const void *address = (const void *)(uintptr_t)atomic; \
        bool is_seen = ecs_unseen != begin(address, sizeof(type), ecs_load, order, CODE); \
        type value = LOAD_##bits(atomic); \
        if (is_seen) { \
            value = (type)ecs_did_load(address, sizeof(type), value, order); \
            tell(address, ecs_load, (uint64_t)value, (uint64_t)value, CODE); \
        } \
        return value; \
    } \
    HOOK void __tsan_atomic##bits##_store(volatile type *atomic, type value, int order) { \
        const void *address = (const void *)(uintptr_t)atomic; \
        bool is_seen = ecs_unseen != begin(address, sizeof(type), ecs_store, order, CODE); \
        type old = FETCH_##bits(atomic, exchange, value); \
        if (is_seen) { \
            ecs_did_store(address, sizeof(type), old, value, order); \
            tell(address, ecs_store, (uint64_t)old, (uint64_t)value, CODE); \
        } \
    } \
    UPDATE(bits, type, exchange, value) \
    UPDATE(bits, type, fetch_add, old + value) \
    UPDATE(bits, type, fetch_sub, old - value) \
    UPDATE(bits, type, fetch_and, old & value) \
    UPDATE(bits, type, fetch_or, old | value) \
    UPDATE(bits, type, fetch_xor, old ^ value) \
    UPDATE(bits, type, fetch_nand, ~(old & value)) \
    static type exchange##bits( \
        volatile type *atomic, type expected, type desired, int order, int failure, uintptr_t code) { \
        if (bits == 32 && (is_lock((uint64_t)expected, (uint64_t)desired, order) \
                           || is_unlock((uint64_t)expected, (uint64_t)desired, order))) \
            return (type)exchange_owner((uint32_t *)(uintptr_t)atomic, (uint32_t)expected, (uint32_t)desired, code); \
        const void *address = (const void *)(uintptr_t)atomic; \
        bool is_seen = ecs_unseen != begin(address, sizeof(type), ecs_update, order > failure ? order : failure, code); \
        ecs_value value = is_seen ? LOAD_##bits(atomic) : 0; \
        bool fails = is_seen && ecs_fails(address, sizeof(type), &value, expected, failure); \
        type found = fails ? (type)value : COMPARE_##bits(atomic, expected, desired); \
        if (!is_seen) return found; \
        bool is_done = found == expected; \
        if (is_done) ecs_did_update(address, sizeof(type), found, desired, order); \
        tell(address, is_done ? ecs_update : ecs_load, (uint64_t)found, (uint64_t)(is_done ? desired : found), code); \
        return found; \
    } \
    HOOK type __tsan_atomic##bits##_compare_exchange_val( \
        volatile type *atomic, type expected, type desired, int order, int failure) { \
        return exchange##bits(atomic, expected, desired, order, failure, CODE); \
    } \
    HOOK int __tsan_atomic##bits##_compare_exchange_strong( \
        volatile type *atomic, type *expected, type desired, int order, int failure) { \
        type found = exchange##bits(atomic, *expected, desired, order, failure, CODE); \
        bool is_done = found == *expected; \
        *expected = found; \
        return is_done; \
    } \
    HOOK int __tsan_atomic##bits##_compare_exchange_weak( \
        volatile type *atomic, type *expected, type desired, int order, int failure) { \
        return __tsan_atomic##bits##_compare_exchange_strong(atomic, expected, desired, order, failure); \
    }

#define LOAD(atomic) __atomic_load_n(atomic, __ATOMIC_SEQ_CST)
#define FETCH(atomic, name, value) FETCH_BY_##name(atomic, value)
#define FETCH_BY_exchange(atomic, value) __atomic_exchange_n(atomic, value, __ATOMIC_SEQ_CST)
#define FETCH_BY_fetch_add(atomic, value) __atomic_fetch_add(atomic, value, __ATOMIC_SEQ_CST)
#define FETCH_BY_fetch_sub(atomic, value) __atomic_fetch_sub(atomic, value, __ATOMIC_SEQ_CST)
#define FETCH_BY_fetch_and(atomic, value) __atomic_fetch_and(atomic, value, __ATOMIC_SEQ_CST)
#define FETCH_BY_fetch_or(atomic, value) __atomic_fetch_or(atomic, value, __ATOMIC_SEQ_CST)
#define FETCH_BY_fetch_xor(atomic, value) __atomic_fetch_xor(atomic, value, __ATOMIC_SEQ_CST)
#define FETCH_BY_fetch_nand(atomic, value) __atomic_fetch_nand(atomic, value, __ATOMIC_SEQ_CST)
#define COMPARE(atomic, expected, desired) \
    ({ __typeof__(expected) found = expected; \
       __atomic_compare_exchange_n(atomic, &found, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
       found; })
#define LOAD_8 LOAD
#define LOAD_16 LOAD
#define LOAD_32 LOAD
#define LOAD_64 LOAD
#define FETCH_8 FETCH
#define FETCH_16 FETCH
#define FETCH_32 FETCH
#define FETCH_64 FETCH
#define COMPARE_8 COMPARE
#define COMPARE_16 COMPARE
#define COMPARE_32 COMPARE
#define COMPARE_64 COMPARE
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

#if defined(__x86_64__) || defined(__aarch64__)
// Without a library of its own, the compiler can only compare and exchange sixteen bytes.
typedef unsigned __int128 wide;
#ifdef __x86_64__
#pragma clang attribute push(__attribute__((target("cx16"))), apply_to = function)
#endif
static wide compare_128(volatile wide *atomic, wide expected, wide desired) {
    return __sync_val_compare_and_swap(atomic, expected, desired);
}
static wide load_128(const volatile wide *atomic) { return compare_128((volatile wide *)(uintptr_t)atomic, 0, 0); }
#define LOAD_128(atomic) load_128(atomic)
#define COMPARE_128 compare_128
#define NEW_exchange value
#define NEW_fetch_add (expected + value)
#define NEW_fetch_sub (expected - value)
#define NEW_fetch_and (expected & value)
#define NEW_fetch_or (expected | value)
#define NEW_fetch_xor (expected ^ value)
#define NEW_fetch_nand (~(expected & value))
#define FETCH_128(atomic, name, value) \
    ({ wide expected, found = load_128(atomic); \
       do { expected = found; } while ((found = compare_128(atomic, expected, NEW_##name)) != expected); \
       expected; })
ATOMICS(128, wide)
#ifdef __x86_64__
#pragma clang attribute pop
#endif
#endif

HOOK void __tsan_atomic_thread_fence(int order) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!ecs_own.order || ecs_own.paused) return;
    if (order == ecs_total) ecs_hooks.will_fence(ecs_own.simulation, CODE);
    ecs_did_fence(order);
}
HOOK void __tsan_atomic_signal_fence(int order) {
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
