#ifdef __linux__
// For pthread_getattr_np.
#define _GNU_SOURCE
#include "Interposition.h"

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

const void *ecs_stack_end(void) { return (const void *)stack_end(); }

// A frame without a pointer to the next one may lead anywhere in the stack, also to memory that a
// sanitizer guards: the value read there is a meaningless number.
__attribute__((no_sanitize("address", "thread"))) size_t ecs_callers(uintptr_t *addresses, size_t count) {
    uintptr_t end = stack_end(), frame = (uintptr_t)__builtin_frame_address(0);
    size_t found = 0;
    while (found < count && frame % sizeof(uintptr_t) == 0 && frame + 2 * sizeof frame <= end) {
        uintptr_t next = ((uintptr_t *)frame)[0], address = ((uintptr_t *)frame)[1];
        if (!address) break;
        // The call precedes its return address.
        addresses[found++] = address - 1;
        // The frame of an async function has flags in the upper bits. A frame without a pointer to
        // the next one has any value there; the walk ends at the end of the stack.
        next &= ~((uintptr_t)0xf << 60);
        if (next <= frame) break;
        frame = next;
    }
    return found;
}
#endif
