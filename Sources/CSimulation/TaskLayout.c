// For dladdr.
#define _GNU_SOURCE
#include "Interposition.h"

#include <dlfcn.h>
#include <pthread.h>

// Tests the layout of tasks with sample tasks. The simulation reads words of tasks and writes two
// of them. With another layout it would corrupt tasks, so it refuses to begin.

extern SWIFT_CALL void *swift_task_getCurrent(void);

// The one job that the calling thread's tasks have enqueued. A second one is not expected.
static ECS_THREAD_LOCAL bool is_testing, has_second;
static ECS_THREAD_LOCAL void *enqueued;

bool ecs_layout_test_takes(void *job) {
    if (!is_testing) return false;
    has_second |= enqueued != NULL;
    enqueued = job;
    return true;
}

static bool is_known;
// Relaxed: a thread receives a task of a search through an ordering that began with this test.
bool ecs_may_read_tasks(void) { return __atomic_load_n(&is_known, __ATOMIC_RELAXED); }

static void *next(void) {
    void *job = enqueued;
    enqueued = NULL;
    return job;
}

static void run(void *job) { swift_job_run(job, NULL, 0); }

static void *word(const void *job, int index) { return ((void *const *)job)[index]; }

// Whether a task has not begun: its function is code of some library, and its context is memory.
static bool is_new(const void *task) {
    Dl_info image;
#ifdef __linux__
    // On Apple platforms there is no such look at memory.
    uintptr_t context[2];
    if (!ecs_read(word(task, ecs_context_at), context, sizeof context)) return false;
#endif
    return ecs_is_task(task) && ecs_task_number(task) == (uint32_t)swift_task_getJobTaskId((void *)task)
        && !word(task, ecs_owner_at) && dladdr(word(task, ecs_resume_at), &image)
        && !ecs_is_running(task) && !ecs_has_ended(task);
}

static void run_rest(void) {
    for (void *job = next(); job; job = next()) run(job);
}

static bool ends(const void *task) {
    run_rest();
    return ecs_has_ended(task) && !ecs_is_running(task);
}

// Checks a task that waits for its `async let`, which throws, yields, and ends.
static bool knows_parts(void *task, const void *error) {
    enum { search = 1, record = 2 };
    if (next() != task || !is_new(task) || ecs_is_async_let(task)) return false;
    ecs_set_owner(task, search, record);
    run(task);
    void *child = next();
    if (!child || !is_new(child) || !ecs_is_async_let(child) || ecs_is_running(task)) return false;
    ecs_learn_waits(task, child);
    const void *first_context = ecs_first_context(child);
    run(child);
    ecs_learn_errors(first_context, error);
    if (next() != task) return false;
    run(task);
    void *resumption = next();
    if (!resumption || ecs_task_number(resumption) != ecs_task_number(task)) return false;
    if (ecs_record(resumption) != record || ecs_is_running(task) || ecs_has_ended(task)) return false;
    run(resumption);
    // The runtime has not used the word.
    return ends(task) && ecs_record(task) == record && ecs_search(task) == search;
}

static ECS_THREAD_LOCAL ecs_resume *replaced;
static ECS_THREAD_LOCAL void *given_context;
static ECS_THREAD_LOCAL bool was_running;

// Runs before a task's first part.
static SWIFT_ASYNC_CALL void record_start(ASYNC_CONTEXT void *context) {
    given_context = context;
    was_running = ecs_is_running(swift_task_getCurrent());
    __attribute__((musttail)) return replaced(context);
}

// Checks that an idle actor that receives the first part of a task requests a drain, which runs it.
static bool knows_drain(void *task, void *actor) {
    if (next() != task || !is_new(task)) return false;
    void *context = word(task, ecs_context_at);
    replaced = (ecs_resume *)word(task, ecs_resume_at);
    ((void **)task)[ecs_resume_at] = (void *)record_start;
    swift_task_enqueue(task, (ecs_executor){actor, 0});
    void *drain = next();
    if (!drain || ecs_drained(drain) != actor || ecs_first_in(actor) != task) return false;
    run(drain);
    return given_context == context && was_running && ends(task);
}

typedef struct {
    void *(*make)(void);
    void *actor;
    const void *error;
    bool fits;
} layout_test;

static void *run_test(void *argument) {
    layout_test *test = argument;
    is_testing = true;
    void *first = test->make();
    test->fits = knows_parts(first, test->error);
    run_rest();
    ecs_release(first);
    if (!test->fits) return NULL;
    void *second = test->make();
    test->fits = knows_drain(second, test->actor) && !has_second;
    run_rest();
    ecs_release(second);
    return NULL;
}

bool ecs_knows_tasks(void *(*make)(void), void *actor, const void *error) {
    // On a separate thread, which runs no task.
    pthread_t thread;
    layout_test test = {make, actor, error, false};
    if (!pthread_create(&thread, NULL, run_test, &test)) pthread_join(thread, NULL);
    if (test.fits) __atomic_store_n(&is_known, true, __ATOMIC_RELAXED);
    return test.fits;
}
