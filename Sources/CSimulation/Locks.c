#ifdef __linux__
#define _GNU_SOURCE
#include "Interposition.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// A job can be paused while it holds a lock of the system. A simulated thread that finds the lock
// taken waits in the simulation, where the holder can continue. So does one that waits for a
// condition.

enum { thread_mask = 0x3fffffff };

uint32_t ecs_thread(void) { return (uint32_t)syscall(SYS_gettid); }

// Relaxed: the scheduler token orders simulated threads. Of others, only the number is used.
bool ecs_is_taken(ecs_lock lock) {
    return lock.holder && __atomic_load_n(lock.word, __ATOMIC_RELAXED);
}

uint32_t ecs_holder(ecs_lock lock) {
    return lock.holder ? __atomic_load_n(lock.holder, __ATOMIC_RELAXED) & thread_mask : 0;
}

// The thread sanitizer interposes its own functions for locks, which must see each use.
#if !__has_feature(thread_sanitizer)
// The word of a Synchronization.Mutex holds the number of its owner. Taking a free one is inlined;
// the wait for a taken one is here.
typedef SWIFT_CALL void lock_slowly(uint32_t thread, __attribute__((swift_context)) _Atomic(uint32_t) *word);
lock_slowly mutex_lock_slowly __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

__attribute__((weak)) SWIFT_CALL void mutex_lock_slowly(
    uint32_t thread, __attribute__((swift_context)) _Atomic(uint32_t) *word) {
    ecs_lock lock = {(const uint32_t *)word, (const uint32_t *)word};
    while (ecs_wait(lock, INT64_MAX)) {
        uint32_t none = 0;
        // Acquiring, as the library does it.
        if (atomic_compare_exchange_strong_explicit(
                word, &none, thread, memory_order_acquire, memory_order_relaxed))
            return;
    }
    static void *known;
    const char *name = "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF";
    ((lock_slowly *)ecs_original(&known, name, NULL))(thread, word);
}

#ifdef __GLIBC__
static ecs_lock lock_of(const pthread_mutex_t *mutex) {
    return (ecs_lock){(const uint32_t *)&mutex->__data.__lock, (const uint32_t *)&mutex->__data.__owner};
}

static int try_lock(pthread_mutex_t *mutex) {
    static void *known;
    typedef int function(pthread_mutex_t *);
    return ((function *)ecs_original(&known, "pthread_mutex_trylock", NULL))(mutex);
}

__attribute__((weak)) int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    int result = try_lock(mutex);
    if (!result && ecs_current() && !ecs_has_own_locks(__builtin_return_address(0))) ecs_will_lock();
    return result;
}

__attribute__((weak)) int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static void *known;
    typedef int function(pthread_mutex_t *);
    if (ecs_current()) {
        if (!ecs_has_own_locks(__builtin_return_address(0))) ecs_will_lock();
        int result;
        while ((result = try_lock(mutex)) == EBUSY && ecs_wait(lock_of(mutex), INT64_MAX)) {}
        if (result != EBUSY) return result;
    }
    return ((function *)ecs_original(&known, "pthread_mutex_lock", NULL))(mutex);
}

// The simulated time at which a wait ends. The argument is a date or an uptime: the condition knows
// its clock, but does not expose it.
static int64_t simulated(const struct timespec *date) {
    int64_t seconds = date->tv_sec - (date->tv_sec < ecs_first_date ? ecs_first_uptime : ecs_first_date);
    if (seconds < 0) return 0;
    if (seconds > INT64_MAX / 2000000000) return INT64_MAX;
    return seconds * 1000000000 + date->tv_nsec;
}

__attribute__((weak)) int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *date) {
    static void *known;
    typedef int function(pthread_mutex_t *, const struct timespec *);
    if (ecs_current()) {
        int64_t deadline = simulated(date);
        if (!ecs_has_own_locks(__builtin_return_address(0))) ecs_will_lock();
        int result;
        while ((result = try_lock(mutex)) == EBUSY && ecs_now() < deadline
               && ecs_wait(lock_of(mutex), deadline)) {}
        if (result != EBUSY) return result;
        if (ecs_now() >= deadline) return ETIMEDOUT;
    }
    return ((function *)ecs_original(&known, "pthread_mutex_timedlock", NULL))(mutex, date);
}

static ecs_lock condition_of(const pthread_cond_t *condition) {
    return (ecs_lock){(const uint32_t *)condition, NULL};
}

// Whether a wait takes place in the simulation. This is decided before the mutex is unlocked: a
// signal between the unlocking and a wait of the system would be lost. The runtime waits for a
// thread that creates a type, which may be outside of the simulation. No simulated thread pauses
// while it creates one.
static bool waits_in_simulation(const void *caller) {
    return ecs_current() && !ecs_has_own_locks(caller) && ecs_waits();
}

// Waits in the simulation for a signal. Between the unlocking and the wait no other simulated
// thread runs.
static ecs_end wait_for_signal(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline) {
    pthread_mutex_unlock(mutex);
    ecs_end end = ecs_wait(condition_of(condition), deadline);
    pthread_mutex_lock(mutex);
    return end;
}

// The version of the functions that programs are linked with; an older version exists, too.
static const char version[] = "GLIBC_2.3.2";
typedef int on_condition(pthread_cond_t *);

__attribute__((weak)) int pthread_cond_signal(pthread_cond_t *condition) {
    static void *known;
    ecs_did_signal(condition_of(condition), false);
    return ((on_condition *)ecs_original(&known, "pthread_cond_signal", version))(condition);
}

__attribute__((weak)) int pthread_cond_broadcast(pthread_cond_t *condition) {
    static void *known;
    ecs_did_signal(condition_of(condition), true);
    return ((on_condition *)ecs_original(&known, "pthread_cond_broadcast", version))(condition);
}

__attribute__((weak)) int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    static void *known;
    typedef int function(pthread_cond_t *, pthread_mutex_t *);
    if (waits_in_simulation(__builtin_return_address(0))) {
        wait_for_signal(condition, mutex, INT64_MAX);
        return 0;
    }
    return ((function *)ecs_original(&known, "pthread_cond_wait", version))(condition, mutex);
}

__attribute__((weak)) int pthread_cond_timedwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *date) {
    static void *known;
    typedef int function(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (waits_in_simulation(__builtin_return_address(0))) {
        int64_t deadline = simulated(date);
        if (ecs_now() >= deadline) return ETIMEDOUT;
        return wait_for_signal(condition, mutex, deadline) == ecs_late ? ETIMEDOUT : 0;
    }
    return ((function *)ecs_original(&known, "pthread_cond_timedwait", version))(condition, mutex, date);
}
#endif
#endif
#endif
