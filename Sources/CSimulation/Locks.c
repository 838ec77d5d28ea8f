#ifdef __linux__
#define _GNU_SOURCE
#include "Interposition.h"

#include <CAccesses.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Before a simulated thread takes a lock of the program, another one may run. One that finds the
// lock taken waits in the simulation, where the holder can continue. So does one that waits for a
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

void ecs_give_back_lock(ecs_lock lock, uint32_t owner) {
    if (lock.kind != ecs_mutex) return;
    if (lock.word == lock.holder) {
        // A Mutex. Releasing, as its own unlock.
        __atomic_store_n((uint32_t *)(uintptr_t)lock.word, 0, __ATOMIC_RELEASE);
        return;
    }
    pthread_mutex_t *mutex = (pthread_mutex_t *)(uintptr_t)lock.word;
    int result = pthread_mutex_unlock(mutex);
#ifdef __GLIBC__
    // A recursive one obeys only its owner, which never runs again.
    if (result != EPERM || !owner || (uint32_t)mutex->__data.__owner != owner) return;
    mutex->__data.__owner = (int)ecs_thread();
    mutex->__data.__count = 1;
    pthread_mutex_unlock(mutex);
#endif
}

// The thread sanitizer interposes its own functions for locks, which must see each use.
#if !__has_feature(thread_sanitizer)
// The word of a Synchronization.Mutex holds the number of its owner. Taking a free one is inlined;
// the wait for a taken one is here.
typedef SWIFT_CALL void lock_slowly(uint32_t thread, __attribute__((swift_context)) _Atomic(uint32_t) *word);
lock_slowly mutex_lock_slowly __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

// Of code that tells its accesses, the simulation also sees the unlocking.
static void did_lock_slowly(ecs_lock lock) {
    if (!ecs_order_did_refuse(lock.word)) return;
    ecs_order_acquire(lock.word);
    ecs_did_lock(lock);
}

__attribute__((weak)) SWIFT_CALL void mutex_lock_slowly(
    uint32_t thread, __attribute__((swift_context)) _Atomic(uint32_t) *word) {
    ecs_lock lock = {ecs_mutex, (const uint32_t *)word, (const uint32_t *)word};
    while (ecs_wait(lock, INT64_MAX)) {
        uint32_t none = 0;
        // Acquiring, as the library does it.
        if (atomic_compare_exchange_strong_explicit(
                word, &none, thread, memory_order_acquire, memory_order_relaxed))
            return did_lock_slowly(lock);
    }
    static void *known;
    const char *name = "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF";
    ((lock_slowly *)ecs_original(&known, name, NULL))(thread, word);
    did_lock_slowly(lock);
}

// A try that the kernel refuses would mark the word, and the holder unlock it by another call.
typedef SWIFT_CALL bool try_lock_slowly(__attribute__((swift_context)) _Atomic(uint32_t) *word);
try_lock_slowly mutex_try_lock_slowly __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");

__attribute__((weak)) SWIFT_CALL bool mutex_try_lock_slowly(
    __attribute__((swift_context)) _Atomic(uint32_t) *word) {
    static void *known;
    const char *name = "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF";
    // Relaxed: no other simulated thread runs, and one outside only makes the try fail.
    if (ecs_current() && atomic_load_explicit(word, memory_order_relaxed)) return false;
    return ((try_lock_slowly *)ecs_original(&known, name, NULL))(word);
}

// The atomics of Synchronization are inlined, except in these functions, which publish an object
// and find the published one.
typedef SWIFT_CALL void *publish(void *object, const void *type, __attribute__((swift_context)) void *reference);
typedef SWIFT_CALL void *find_published(const void *type, __attribute__((swift_context)) void *reference);
publish store_if_nil __asm__("$s15Synchronization19AtomicLazyReferenceV10storeIfNilyxxnF");
find_published load_reference __asm__("$s15Synchronization19AtomicLazyReferenceV4loadxSgyF");

__attribute__((weak)) SWIFT_CALL void *store_if_nil(
    void *object, const void *type, __attribute__((swift_context)) void *reference) {
    static void *known;
    const char *name = "$s15Synchronization19AtomicLazyReferenceV10storeIfNilyxxnF";
    ecs_order_release(reference);
    void *published = ((publish *)ecs_original(&known, name, NULL))(object, type, reference);
    ecs_order_acquire(reference);
    return published;
}

__attribute__((weak)) SWIFT_CALL void *load_reference(
    const void *type, __attribute__((swift_context)) void *reference) {
    static void *known;
    const char *name = "$s15Synchronization19AtomicLazyReferenceV4loadxSgyF";
    void *published = ((find_published *)ecs_original(&known, name, NULL))(type, reference);
    ecs_order_acquire(reference);
    return published;
}

#ifdef __GLIBC__
static ecs_lock lock_of(const pthread_mutex_t *mutex) {
    return (ecs_lock){
        ecs_mutex, (const uint32_t *)&mutex->__data.__lock, (const uint32_t *)&mutex->__data.__owner};
}

typedef int on_mutex(pthread_mutex_t *);

// Of a lock that inherits priorities, the kernel compares the owner with the system thread.
static void go_home_for(const pthread_mutex_t *mutex) {
    enum { inherits_priorities = 32 };
    if (mutex->__data.__kind & inherits_priorities) ecs_go_home();
}

static int try_lock(pthread_mutex_t *mutex) {
    static void *known;
    go_home_for(mutex);
    return ((on_mutex *)ecs_original(&known, "pthread_mutex_trylock", NULL))(mutex);
}

// Whether the simulation sees that the caller takes a lock.
static bool sees(ecs_lock lock, const void *caller) {
    if (!ecs_current() || ecs_has_own_locks(caller)) return false;
    if (ecs_locks_for_program(caller)) return true;
    ecs_will_lock_unseen(lock);
    return false;
}

// Whether the calling thread has the lock now: a robust one may be in another state than expected.
static bool is_taken(int result) { return result == 0 || result == EOWNERDEAD; }

// Whether the simulation sees it or not, a lock orders what its holders do, except the scheduler's.
static void order_after(const void *lock) {
    if (!ecs_ignores()) ecs_order_acquire(lock);
}
static void order_before(const void *lock) {
    if (!ecs_ignores()) ecs_order_release(lock);
}

static int did_take(int result, pthread_mutex_t *mutex, bool is_seen) {
    if (!is_taken(result)) return result;
    order_after(mutex);
    if (is_seen) ecs_did_lock(lock_of(mutex));
    return result;
}

__attribute__((weak)) int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    bool is_seen = sees(lock_of(mutex), __builtin_return_address(0));
    if (is_seen) ecs_will_lock(lock_of(mutex), false);
    return did_take(try_lock(mutex), mutex, is_seen);
}

static int take(pthread_mutex_t *mutex, bool is_seen) {
    static void *known;
    if (is_seen) ecs_will_lock(lock_of(mutex), true);
    int result = EBUSY;
    if (ecs_current())
        while ((result = try_lock(mutex)) == EBUSY && ecs_wait(lock_of(mutex), INT64_MAX)) {}
    // Only a thread outside can release it.
    go_home_for(mutex);
    if (result == EBUSY) result = ((on_mutex *)ecs_original(&known, "pthread_mutex_lock", NULL))(mutex);
    return did_take(result, mutex, is_seen);
}

__attribute__((weak)) int pthread_mutex_lock(pthread_mutex_t *mutex) {
    return take(mutex, sees(lock_of(mutex), __builtin_return_address(0)));
}

static int unlock(pthread_mutex_t *mutex, bool is_seen) {
    static void *known;
    go_home_for(mutex);
    order_before(mutex);
    int result = ((on_mutex *)ecs_original(&known, "pthread_mutex_unlock", NULL))(mutex);
    if (is_seen && !result) ecs_did_unlock(lock_of(mutex));
    return result;
}

// No scheduling point: a thread that is paused there would keep what an invariant or the next
// schedule may need, such as the lock of a test's log.
// Not of a lock of the runtime: the simulation may need it.
__attribute__((weak)) int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    return unlock(mutex, ecs_current() && !ecs_has_own_locks(__builtin_return_address(0)));
}

// Another lock may be at the same address later, and was there before.
__attribute__((weak)) int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
    static void *known;
    typedef int function(pthread_mutex_t *, const pthread_mutexattr_t *);
    if (ecs_locks_for_program(__builtin_return_address(0))) ecs_did_free_lock(lock_of(mutex));
    return ((function *)ecs_original(&known, "pthread_mutex_init", NULL))(mutex, attributes);
}

__attribute__((weak)) int pthread_mutex_destroy(pthread_mutex_t *mutex) {
    static void *known;
    if (ecs_locks_for_program(__builtin_return_address(0))) ecs_did_free_lock(lock_of(mutex));
    return ((on_mutex *)ecs_original(&known, "pthread_mutex_destroy", NULL))(mutex);
}

// A lock for readers and writers. Who reads is not in its memory: the simulation keeps it.
static ecs_lock for_reading(const pthread_rwlock_t *lock) {
    return (ecs_lock){ecs_reads, (const uint32_t *)lock, NULL};
}
static ecs_lock for_writing(const pthread_rwlock_t *lock) {
    return (ecs_lock){ecs_writes, (const uint32_t *)lock, NULL};
}

typedef int on_rwlock(pthread_rwlock_t *);

// The number of the thread that writes is in the lock. Relaxed: it is the caller's, or not.
static bool is_written(const pthread_rwlock_t *lock) {
    return __atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED) != 0;
}

// A reader follows writers, not other readers. The second address stands for these.
static const void *readers_of(const pthread_rwlock_t *lock) { return (const char *)lock + 1; }
static void did_enter(pthread_rwlock_t *lock, ecs_lock seen) {
    order_after(lock);
    if (seen.kind == ecs_writes) order_after(readers_of(lock));
}

static int try_to_read(pthread_rwlock_t *lock) {
    static void *known;
    return ((on_rwlock *)ecs_original(&known, "pthread_rwlock_tryrdlock", NULL))(lock);
}

static int try_to_write(pthread_rwlock_t *lock) {
    static void *known;
    return ((on_rwlock *)ecs_original(&known, "pthread_rwlock_trywrlock", NULL))(lock);
}

static int try_seen(pthread_rwlock_t *lock, on_rwlock *try, ecs_lock seen, const void *caller) {
    bool is_seen = sees(seen, caller);
    if (is_seen) ecs_will_lock(seen, false);
    int result = try(lock);
    if (!result) did_enter(lock, seen);
    if (is_seen && !result) ecs_did_lock(seen);
    return result;
}

static int take_seen(
    pthread_rwlock_t *lock, on_rwlock *try, on_rwlock *take, ecs_lock seen, const void *caller) {
    bool is_seen = sees(seen, caller);
    if (is_seen) ecs_will_lock(seen, true);
    int result = EBUSY;
    if (is_seen)
        while ((result = try(lock)) == EBUSY && ecs_wait(seen, INT64_MAX)) {}
    // Only a thread outside can release it.
    if (result == EBUSY) result = take(lock);
    if (!result) did_enter(lock, seen);
    if (is_seen && !result) ecs_did_lock(seen);
    return result;
}

__attribute__((weak)) int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
    return try_seen(lock, try_to_read, for_reading(lock), __builtin_return_address(0));
}

__attribute__((weak)) int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
    return try_seen(lock, try_to_write, for_writing(lock), __builtin_return_address(0));
}

__attribute__((weak)) int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    static void *known;
    on_rwlock *take = (on_rwlock *)ecs_original(&known, "pthread_rwlock_rdlock", NULL);
    return take_seen(lock, try_to_read, take, for_reading(lock), __builtin_return_address(0));
}

__attribute__((weak)) int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    static void *known;
    on_rwlock *take = (on_rwlock *)ecs_original(&known, "pthread_rwlock_wrlock", NULL);
    return take_seen(lock, try_to_write, take, for_writing(lock), __builtin_return_address(0));
}

__attribute__((weak)) int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    static void *known;
    bool is_seen = ecs_current() && !ecs_has_own_locks(__builtin_return_address(0));
    // Whether it was taken to write, the system knows only until it is released.
    order_before(is_written(lock) ? (const void *)lock : readers_of(lock));
    int result = ((on_rwlock *)ecs_original(&known, "pthread_rwlock_unlock", NULL))(lock);
    if (is_seen && !result) ecs_did_unlock(for_writing(lock));
    return result;
}

__attribute__((weak)) int pthread_rwlock_destroy(pthread_rwlock_t *lock) {
    static void *known;
    if (ecs_locks_for_program(__builtin_return_address(0))) ecs_did_free_lock(for_writing(lock));
    return ((on_rwlock *)ecs_original(&known, "pthread_rwlock_destroy", NULL))(lock);
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
        bool is_seen = sees(lock_of(mutex), __builtin_return_address(0));
        if (is_seen) ecs_will_lock(lock_of(mutex), ecs_now() < deadline);
        int result;
        while ((result = try_lock(mutex)) == EBUSY && ecs_now() < deadline
               && ecs_wait(lock_of(mutex), deadline)) {}
        if (result != EBUSY) return did_take(result, mutex, is_seen);
        if (ecs_now() >= deadline) return ETIMEDOUT;
    }
    go_home_for(mutex);
    int result = ((function *)ecs_original(&known, "pthread_mutex_timedlock", NULL))(mutex, date);
    if (is_taken(result)) order_after(mutex);
    return result;
}

static ecs_lock condition_of(const pthread_cond_t *condition) {
    return (ecs_lock){ecs_condition, (const uint32_t *)condition, NULL};
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
static ecs_end wait_for_signal(
    pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline, const void *caller) {
    bool is_seen = ecs_locks_for_program(caller);
    unlock(mutex, is_seen);
    // A wait that is late already lets another thread take the mutex, too.
    ecs_end end = ecs_now() >= deadline ? ecs_late : ecs_wait(condition_of(condition), deadline);
    take(mutex, is_seen);
    return end;
}

// The version of the functions that programs are linked with; an older version exists, too.
static const char version[] = "GLIBC_2.3.2";
typedef int on_condition(pthread_cond_t *);

// A signal without the mutex may come between a waiter's look and its wait.
static void will_use(pthread_cond_t *condition, const void *caller) {
    if (ecs_current() && ecs_locks_for_program(caller)) ecs_will_lock(condition_of(condition), true);
}

__attribute__((weak)) int pthread_cond_signal(pthread_cond_t *condition) {
    static void *known;
    will_use(condition, __builtin_return_address(0));
    ecs_did_signal(condition_of(condition), false);
    return ((on_condition *)ecs_original(&known, "pthread_cond_signal", version))(condition);
}

__attribute__((weak)) int pthread_cond_broadcast(pthread_cond_t *condition) {
    static void *known;
    will_use(condition, __builtin_return_address(0));
    ecs_did_signal(condition_of(condition), true);
    return ((on_condition *)ecs_original(&known, "pthread_cond_broadcast", version))(condition);
}

__attribute__((weak)) int pthread_cond_destroy(pthread_cond_t *condition) {
    static void *known;
    if (ecs_locks_for_program(__builtin_return_address(0))) ecs_did_free_lock(condition_of(condition));
    return ((on_condition *)ecs_original(&known, "pthread_cond_destroy", version))(condition);
}

__attribute__((weak)) int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    static void *known;
    typedef int function(pthread_cond_t *, pthread_mutex_t *);
    if (waits_in_simulation(__builtin_return_address(0))) {
        will_use(condition, __builtin_return_address(0));
        wait_for_signal(condition, mutex, INT64_MAX, __builtin_return_address(0));
        return 0;
    }
    return ((function *)ecs_original(&known, "pthread_cond_wait", version))(condition, mutex);
}

__attribute__((weak)) int pthread_cond_timedwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *date) {
    static void *known;
    typedef int function(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (waits_in_simulation(__builtin_return_address(0))) {
        will_use(condition, __builtin_return_address(0));
        int64_t deadline = simulated(date);
        const void *caller = __builtin_return_address(0);
        return wait_for_signal(condition, mutex, deadline, caller) == ecs_late ? ETIMEDOUT : 0;
    }
    return ((function *)ecs_original(&known, "pthread_cond_timedwait", version))(condition, mutex, date);
}
#endif
#endif
#endif
