#include "CPlatform.h"

// From the Swift runtime: the call by which a `weak` variable is read.
extern void *swift_tryRetain(void *object);

void *ec_try_retain(void *object) { return swift_tryRetain(object); }

// From the runtime of tasks, where the standard library finds them as well. Here without the
// optional `TaskPriority`, whose size is known at run time only.
extern __attribute__((swiftcall)) void *swift_task_getCurrent(void);
extern __attribute__((swiftcall)) size_t swift_task_currentPriority(void *task);

extern __attribute__((swiftcall)) bool swift_task_isCancelled(const void *task);

const void *ec_task_current(void) { return swift_task_getCurrent(); }

bool ec_task_is_cancelled(const void *task) { return task && swift_task_isCancelled(task); }

uint8_t ec_task_priority(void) {
    void *task = swift_task_getCurrent();
    return task ? (uint8_t)swift_task_currentPriority(task) : 0;
}

uintptr_t ec_code_of(const void *code, const void *captures) {
    (void)captures;
    return (uintptr_t)code;
}
