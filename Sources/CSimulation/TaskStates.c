#include "Interposition.h"

// What a suspended task waits for, and how a task has ended. Only stories tell it: a runtime with
// another layout is no reason to refuse, as nothing is known then.

// Words: of a task, the record of what it waits for; of that record, what it is and of which kind;
// of a thrown error, its type. The error precedes the first context of the task that has thrown it.
enum { dependency_at = 20, awaited_at = 2, kind_at = 4, words_of_dependency = 5, type_at = 2, words_of_error = 3 };
// Of the tasks that end, only futures keep their error.
enum { is_future = 1 << 25 };

static bool knows_waits, knows_errors;

// Relaxed: a thread that has a task of a search received it through an ordering that began later.
static void learn(bool *fact, bool is_known) {
    if (is_known) __atomic_store_n(fact, true, __ATOMIC_RELAXED);
}
static bool is_known(bool *fact) { return __atomic_load_n(fact, __ATOMIC_RELAXED); }

static ecs_awaited_kind dependency(const void *task, const void **what) {
    uintptr_t words[words_of_dependency];
    const void *record = ((void *const *)task)[dependency_at];
    if (!record || !ecs_read(record, words, sizeof words)) return ecs_awaits_something;
    *what = (const void *)words[awaited_at];
    uint32_t kind = (uint32_t)words[kind_at];
    return kind <= ecs_awaits_group ? (ecs_awaited_kind)kind : ecs_awaits_something;
}

void ecs_learn_waits(const void *task, const void *awaited) {
    const void *what = NULL;
    learn(&knows_waits, dependency(task, &what) == ecs_awaits_task && what == awaited);
}

ecs_awaited ecs_awaited_by(const void *task) {
    ecs_awaited awaited = {ecs_awaits_something, 0};
    const void *what = NULL;
    if (!is_known(&knows_waits)) return awaited;
    awaited.kind = dependency(task, &what);
    uintptr_t words[ecs_flags_at + 1];
    bool is_task = awaited.kind == ecs_awaits_task && ecs_read(what, words, sizeof words) && ecs_is_task(words);
    if (is_task) awaited.task = ecs_task_number(words);
    return awaited;
}

// A type begins with a small number for its kind.
enum { most_kinds = 0x800 };

static const void *type_of_error(const void *context) {
    uintptr_t error, words[words_of_error], kind;
    if (!ecs_read((const uintptr_t *)context - 1, &error, sizeof error) || !error) return NULL;
    if (!ecs_read((const void *)error, words, sizeof words)) return NULL;
    const void *type = (const void *)words[type_at];
    return ecs_read(type, &kind, sizeof kind) && kind < most_kinds ? type : NULL;
}

void ecs_learn_errors(const void *context, const void *type) {
    learn(&knows_errors, type && type_of_error(context) == type);
}

const void *ecs_thrown_by(const void *task, const void *context) {
    bool keeps_error = ((const uint32_t *)task)[2 * ecs_flags_at] & is_future;
    return is_known(&knows_errors) && keeps_error && context ? type_of_error(context) : NULL;
}

extern SWIFT_CALL bool swift_task_isCancelled(const void *task);
bool ecs_task_is_cancelled(const void *task) { return swift_task_isCancelled(task); }

const void *ecs_first_context(const void *task) { return ((void *const *)task)[ecs_context_at]; }
