#ifdef __linux__
#define _GNU_SOURCE
#include "Interposition.h"

#include <errno.h>

// Dispatch semaphores and groups. The object itself keeps the count, also in a simulation: a
// simulated thread waits in the simulation until it can take a permit without blocking.

typedef void *object;
enum { at_once = 0 };

static ecs_counter group(object counter) { return (ecs_counter){counter, true}; }

typedef intptr_t wait_function(object counter, uint64_t limit);

static wait_function *real_wait(bool is_group) {
    static void *of_semaphore, *of_group;
    return is_group ? (wait_function *)ecs_original(&of_group, "dispatch_group_wait", NULL)
                    : (wait_function *)ecs_original(&of_semaphore, "dispatch_semaphore_wait", NULL);
}

bool ecs_try(ecs_counter counter) {
    int before = errno;
    bool is_taken = !real_wait(counter.is_group)((object)counter.address, at_once);
    errno = before;
    return is_taken;
}

// Dispatch enters and leaves a group for the jobs that it runs itself.
static bool will_use(ecs_counter counter, ecs_use use, const void *caller) {
    return !ecs_is_system(caller) && ecs_will_use(counter, use);
}

typedef void use_function(object counter);

void ecs_enter_group(object counter, const void *caller) {
    static void *known;
    bool is_simulated = will_use(group(counter), ecs_enter, caller);
    ((use_function *)ecs_original(&known, "dispatch_group_enter", NULL))(counter);
    if (is_simulated) ecs_did_use(group(counter), ecs_enter);
}

void ecs_leave_group(object counter, const void *caller) {
    static void *known;
    bool is_simulated = will_use(group(counter), ecs_leave, caller);
    // The simulation checks whether the group is empty now; leaving it may end its last use.
    if (is_simulated) ecs_dispatch_retain(counter);
    ((use_function *)ecs_original(&known, "dispatch_group_leave", NULL))(counter);
    if (!is_simulated) return;
    ecs_did_use(group(counter), ecs_leave);
    ecs_dispatch_release(counter);
}

// The thread sanitizer interposes its own functions for these, which must see each use.
#if !__has_feature(thread_sanitizer)
static ecs_counter semaphore(object counter) { return (ecs_counter){counter, false}; }

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

__attribute__((weak)) object dispatch_semaphore_create(intptr_t value) {
    static void *known;
    object made = ((object (*)(intptr_t))ecs_original(&known, "dispatch_semaphore_create", NULL))(value);
    if (made) ecs_did_make(semaphore(made), value, ecs_is_system(__builtin_return_address(0)));
    return made;
}

__attribute__((weak)) intptr_t dispatch_semaphore_wait(object counter, uint64_t limit) {
    return wait_for(semaphore(counter), limit, __builtin_return_address(0));
}

__attribute__((weak)) intptr_t dispatch_semaphore_signal(object counter) {
    static void *known;
    bool is_simulated = will_use(semaphore(counter), ecs_signal, __builtin_return_address(0));
    // An outside thread that waits may free the object now.
    intptr_t has_woken = ((intptr_t (*)(object))ecs_original(&known, "dispatch_semaphore_signal", NULL))(counter);
    if (is_simulated && ecs_did_use(semaphore(counter), ecs_signal)) return 1;
    return has_woken;
}

__attribute__((weak)) object dispatch_group_create(void) {
    static void *known;
    object made = ((object (*)(void))ecs_original(&known, "dispatch_group_create", NULL))();
    if (made) ecs_did_make(group(made), 0, ecs_is_system(__builtin_return_address(0)));
    return made;
}

__attribute__((weak)) void dispatch_group_enter(object counter) {
    ecs_enter_group(counter, __builtin_return_address(0));
}

__attribute__((weak)) void dispatch_group_leave(object counter) {
    ecs_leave_group(counter, __builtin_return_address(0));
}

__attribute__((weak)) intptr_t dispatch_group_wait(object counter, uint64_t limit) {
    return wait_for(group(counter), limit, __builtin_return_address(0));
}

// A wait for a work item is a wait for the group inside it.
__attribute__((weak)) intptr_t dispatch_block_wait(void *block, uint64_t limit) {
    static void *known;
    wait_function *real = (wait_function *)ecs_original(&known, "dispatch_block_wait", NULL);
    object inside = ecs_item_group(block);
    const void *caller = __builtin_return_address(0);
    const ecs_simulator *simulator = inside && !ecs_is_system(caller) ? ecs_for_dispatch(NULL) : NULL;
    if (!simulator) return real(block, limit);
    simulator->will_wait_for_item(ecs_current(), group(inside));
    intptr_t result = wait_for(group(inside), limit, caller);
    // Dispatch records that the item was waited for.
    return result ? result : real(block, at_once);
}
#endif

bool ecs_has_takers(ecs_counter counter) {
    return counter.is_group ? !ecs_try(counter) : ecs_semaphore_has_takers(counter.address);
}

void ecs_give_back(ecs_counter counter) {
    static void *known_signal, *known_leave;
    if (counter.is_group)
        ((void (*)(object))ecs_original(&known_leave, "dispatch_group_leave", NULL))((object)counter.address);
    else
        ((intptr_t (*)(object))ecs_original(&known_signal, "dispatch_semaphore_signal", NULL))((object)counter.address);
}
#endif
