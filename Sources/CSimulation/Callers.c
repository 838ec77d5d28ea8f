#ifdef __linux__
// For pthread_getattr_np.
#define _GNU_SOURCE
#include "Doors.h"

#include <pthread.h>

// The end of the calling thread's stack.
static uintptr_t stack_end(void) {
    static _Thread_local uintptr_t end;
    pthread_attr_t attributes;
    if (end || pthread_getattr_np(pthread_self(), &attributes)) return end;
    void *start;
    size_t size;
    if (!pthread_attr_getstack(&attributes, &start, &size)) end = (uintptr_t)start + size;
    pthread_attr_destroy(&attributes);
    return end;
}

// A frame without a pointer to the next one may lead to any place of the stack, also to one that a
// sanitizer guards: what is read there is a number that leads nowhere.
__attribute__((no_sanitize("address", "thread"))) size_t ecs_callers(uintptr_t *addresses, size_t count) {
    uintptr_t end = stack_end(), frame = (uintptr_t)__builtin_frame_address(0);
    size_t found = 0;
    while (found < count && frame % sizeof(uintptr_t) == 0 && frame + 2 * sizeof frame <= end) {
        uintptr_t next = ((uintptr_t *)frame)[0], address = ((uintptr_t *)frame)[1];
        if (!address) break;
        // The call is before the address to which it returns.
        addresses[found++] = address - 1;
        // The frame of an async function has marks in the upper bits. A frame without a pointer to
        // the next one has anything there, and the stack ends the walk.
        next &= ~((uintptr_t)0xf << 60);
        if (next <= frame) break;
        frame = next;
    }
    return found;
}
#endif
