#ifdef __linux__
#define _GNU_SOURCE
#include "Doors.h"

#include <errno.h>

// Semaphores and groups of Dispatch. The object itself keeps the count, in a simulation as well: a
// simulated thread waits in the simulation until it can take what it needs without blocking.

typedef void *object;
enum { at_once = 0 };

static ecs_counter semaphore(object counter) { return (ecs_counter){counter, false}; }
static ecs_counter group(object counter) { return (ecs_counter){counter, true}; }

typedef intptr_t wait_function(object counter, uint64_t limit);

static wait_function *real_wait(bool is_group) {
    static void *of_semaphore, *of_group;
    return is_group ? (wait_function *)ecs_behind(&of_group, "dispatch_group_wait", NULL)
                    : (wait_function *)ecs_behind(&of_semaphore, "dispatch_semaphore_wait", NULL);
}

bool ecs_try(ecs_counter counter) {
    int before = errno;
    bool is_taken = !real_wait(counter.is_group)((object)counter.address, at_once);
    errno = before;
    return is_taken;
}

// The thread sanitizer has its own functions for these, which must see each use.
#if !__has_feature(thread_sanitizer)
static intptr_t wait_for(ecs_counter counter, uint64_t limit, const void *caller) {
    object waited = (object)counter.address;
    if (ecs_is_system(caller)) return real_wait(counter.is_group)(waited, limit);
    switch (ecs_wait_for(counter, limit)) {
    case ecs_free: return 0;
    case ecs_late:
        // What Dispatch returns.
        errno = ETIMEDOUT;
        return -1;
    case ecs_not_waited: break;
    case ecs_outside: {
        intptr_t result = real_wait(counter.is_group)(waited, limit);
        int error = errno;
        ecs_did_wait_outside(counter, limit, !result);
        errno = error;
        return result;
    }
    }
    return real_wait(counter.is_group)(waited, limit);
}

// Dispatch enters and leaves a group for the jobs that it runs itself.
static bool will_use(ecs_counter counter, ecs_use use, const void *caller) {
    return !ecs_is_system(caller) && ecs_will_use(counter, use);
}

__attribute__((weak)) object dispatch_semaphore_create(intptr_t value) {
    static void *known;
    object made = ((object (*)(intptr_t))ecs_behind(&known, "dispatch_semaphore_create", NULL))(value);
    if (made) ecs_did_make(semaphore(made), value, ecs_is_system(__builtin_return_address(0)));
    return made;
}

__attribute__((weak)) intptr_t dispatch_semaphore_wait(object counter, uint64_t limit) {
    return wait_for(semaphore(counter), limit, __builtin_return_address(0));
}

__attribute__((weak)) intptr_t dispatch_semaphore_signal(object counter) {
    static void *known;
    bool is_simulated = will_use(semaphore(counter), ecs_signal, __builtin_return_address(0));
    // A thread outside that waits may free the object now.
    intptr_t has_woken = ((intptr_t (*)(object))ecs_behind(&known, "dispatch_semaphore_signal", NULL))(counter);
    if (is_simulated && ecs_did_use(semaphore(counter), ecs_signal)) return 1;
    return has_woken;
}

__attribute__((weak)) object dispatch_group_create(void) {
    static void *known;
    object made = ((object (*)(void))ecs_behind(&known, "dispatch_group_create", NULL))();
    if (made) ecs_did_make(group(made), 0, ecs_is_system(__builtin_return_address(0)));
    return made;
}

typedef void use_function(object counter);

__attribute__((weak)) void dispatch_group_enter(object counter) {
    static void *known;
    bool is_simulated = will_use(group(counter), ecs_enter, __builtin_return_address(0));
    ((use_function *)ecs_behind(&known, "dispatch_group_enter", NULL))(counter);
    if (is_simulated) ecs_did_use(group(counter), ecs_enter);
}

__attribute__((weak)) void dispatch_group_leave(object counter) {
    static void *known, *known_retain, *known_release;
    bool is_simulated = will_use(group(counter), ecs_leave, __builtin_return_address(0));
    // The simulation asks the group whether it is empty now; leaving it may end its last use.
    if (is_simulated) ((use_function *)ecs_behind(&known_retain, "dispatch_retain", NULL))(counter);
    ((use_function *)ecs_behind(&known, "dispatch_group_leave", NULL))(counter);
    if (!is_simulated) return;
    ecs_did_use(group(counter), ecs_leave);
    ((use_function *)ecs_behind(&known_release, "dispatch_release", NULL))(counter);
}

__attribute__((weak)) intptr_t dispatch_group_wait(object counter, uint64_t limit) {
    return wait_for(group(counter), limit, __builtin_return_address(0));
}

// Dispatch runs these jobs on its own threads.
static void give_away(object queue, const void *caller) {
    static void *known;
    if (!ecs_current() || ecs_is_system(caller)) return;
    const char *label = ((const char *(*)(object))ecs_behind(&known, "dispatch_queue_get_label", NULL))(queue);
    ecs_will_give_away(label ? label : "");
}

typedef void give_function(object counter, object queue, void *block);
typedef void give_call_function(object counter, object queue, void *context, void (*function)(void *));

__attribute__((weak)) void dispatch_group_notify(object counter, object queue, void *block) {
    static void *known;
    give_away(queue, __builtin_return_address(0));
    ((give_function *)ecs_behind(&known, "dispatch_group_notify", NULL))(counter, queue, block);
}

__attribute__((weak)) void dispatch_group_notify_f(
    object counter, object queue, void *context, void (*function)(void *)) {
    static void *known;
    give_away(queue, __builtin_return_address(0));
    ((give_call_function *)ecs_behind(&known, "dispatch_group_notify_f", NULL))(counter, queue, context, function);
}

__attribute__((weak)) void dispatch_group_async(object counter, object queue, void *block) {
    static void *known;
    give_away(queue, __builtin_return_address(0));
    ((give_function *)ecs_behind(&known, "dispatch_group_async", NULL))(counter, queue, block);
}

__attribute__((weak)) void dispatch_group_async_f(
    object counter, object queue, void *context, void (*function)(void *)) {
    static void *known;
    give_away(queue, __builtin_return_address(0));
    ((give_call_function *)ecs_behind(&known, "dispatch_group_async_f", NULL))(counter, queue, context, function);
}
#endif
#endif
