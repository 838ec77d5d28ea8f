#include "Order.h"

#include <string.h>

// With the sanitizer itself, its own functions are called.
#if !__has_feature(thread_sanitizer)

#define HOOK __attribute__((weak, visibility("default")))
#define CODE ((uintptr_t)__builtin_return_address(0) - 1)

static inline void access(const void *address, size_t size, bool is_write, uintptr_t code) {
    if (__builtin_expect(!ecs_own.order || ecs_own.paused, 1)) return;
    if (!ecs_own.unchecked) ecs_check(address, size, is_write, false, code);
    else if (is_write) ecs_own.did_write = true;
}

#define ACCESSES(size, prefix) \
    HOOK void __tsan_##prefix##read##size(void *address) { access(address, size, false, CODE); } \
    HOOK void __tsan_##prefix##write##size(void *address) { access(address, size, true, CODE); } \
    HOOK void __tsan_##prefix##read_write##size(void *address) { access(address, size, true, CODE); }
#define ALL_SIZES(prefix) \
    ACCESSES(1, prefix) ACCESSES(2, prefix) ACCESSES(4, prefix) ACCESSES(8, prefix) ACCESSES(16, prefix)
ALL_SIZES()
ALL_SIZES(unaligned_)
ALL_SIZES(volatile_)
ALL_SIZES(unaligned_volatile_)

HOOK void __tsan_read_range(void *address, size_t size) { access(address, size, false, CODE); }
HOOK void __tsan_write_range(void *address, size_t size) { access(address, size, true, CODE); }

// Swift calls it before a change that another function makes to a variable, such as an append to an
// array.
HOOK void __tsan_external_write(void *address, void *caller, void *tag) {
    (void)caller, (void)tag;
    // Of a variable on the stack, the change may be elsewhere.
    ecs_own.did_write = true;
    access(address, 1, true, CODE);
}
HOOK void __tsan_external_read(void *address, void *caller, void *tag) {
    (void)caller, (void)tag;
    access(address, 1, false, CODE);
}

HOOK void *__tsan_memcpy(void *to, const void *from, size_t size) {
    access(from, size, false, CODE);
    access(to, size, true, CODE);
    return memcpy(to, from, size);
}
HOOK void *__tsan_memmove(void *to, const void *from, size_t size) {
    access(from, size, false, CODE);
    access(to, size, true, CODE);
    return memmove(to, from, size);
}
HOOK void *__tsan_memset(void *to, int value, size_t size) {
    access(to, size, true, CODE);
    return memset(to, value, size);
}

// An object of C++ that is being destroyed changes its own table of functions to that of its base.
HOOK void __tsan_vptr_update(void **address, void *value) {
    if (*address != value) access(address, sizeof *address, true, CODE);
}
HOOK void __tsan_vptr_read(void **address) { access(address, sizeof *address, false, CODE); }

HOOK void __tsan_func_entry(void *caller) { (void)caller; }
HOOK void __tsan_func_exit(void) {}

// A deinit: what others have done to the object precedes it by the object's reference count.
HOOK void __tsan_ignore_thread_begin(void) { ecs_own.unchecked++; }
HOOK void __tsan_ignore_thread_end(void) { ecs_own.unchecked--; }

// The runtime orders the parts of tasks by these. They are NULL without the sanitizer.
extern void (*_swift_tsan_acquire)(const void *) __attribute__((weak));
extern void (*_swift_tsan_release)(const void *) __attribute__((weak));
static void acquire(const void *address) {
    if (!ecs_own.paused) ecs_order_acquire(address);
}
static void release(const void *address) {
    if (!ecs_own.paused) ecs_order_release(address);
}
__attribute__((constructor)) static void order_tasks(void) {
    if (!&_swift_tsan_acquire || !&_swift_tsan_release || _swift_tsan_acquire) return;
    _swift_tsan_acquire = acquire;
    _swift_tsan_release = release;
}

#endif
