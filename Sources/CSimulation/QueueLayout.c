#ifdef __linux__
#define _GNU_SOURCE
#include "Interposition.h"

#include <dlfcn.h>
#include <string.h>

// Reads the state of Dispatch objects, for which Dispatch has no functions. A test with sample
// objects verifies that their layout is the known one.

typedef void *object;
// Offsets in words. In a queue: its target, its state, and its width in the lower half of a word.
// In a semaphore: its permits, and how many it was created with. In a work item, which is a block:
// its code, a magic number, its flags, whether it was cancelled and how often it ran, and the group
// that it leaves when it has run.
enum { target_at = 3, state_at = 7, width_at = 10 };
enum { permits_at = 6, made_with_at = 7 };
enum { code_at = 2, magic_at = 4, flags_at = 5, status_at = 6, group_at = 10 };
enum { item_magic = 0xd159b10c, barrier_flag = 1, cancelled_flag = 1, serial_width = 1, width_mask = 0xffff };
// The part of a queue's state that is not zero while it is suspended or not active.
static const uint64_t suspended_mask = 0xff80000000000000;

static uint64_t word(const void *object, int index) {
    // Relaxed, here and below: the simulation orders its threads.
    return __atomic_load_n((const uint64_t *)object + index, __ATOMIC_RELAXED);
}

static void *function(void **known, const char *name) { return ecs_original(known, name, NULL); }

void ecs_dispatch_retain(const void *kept) {
    static void *known;
    ((void (*)(object))function(&known, "dispatch_retain"))((object)kept);
}

void ecs_dispatch_release(const void *kept) {
    static void *known;
    ((void (*)(object))function(&known, "dispatch_release"))((object)kept);
}

// Dispatch counts the program's references separately from its own. A queue that is the target of
// another one may have no reference of the program.
void ecs_queue_keep(const void *kept) {
    static void *known;
    ((object (*)(object))function(&known, "_os_object_retain_internal"))((object)kept);
}

void ecs_queue_drop(const void *kept) {
    static void *known;
    ((void (*)(object))function(&known, "_os_object_release_internal"))((object)kept);
}

const char *ecs_queue_label(const void *queue) {
    static void *known;
    const char *label = ((const char *(*)(object))function(&known, "dispatch_queue_get_label"))((object)queue);
    return label ? label : "";
}

const void *ecs_main_queue(void) {
    static void *known;
    return function(&known, "_dispatch_main_q");
}

bool ecs_queue_is_main(const void *queue) { return queue == ecs_main_queue(); }

bool ecs_queue_is_serial(const void *queue) { return (word(queue, width_at) & width_mask) == serial_width; }

const void *ecs_queue_target(const void *queue) {
    const void *target = (const void *)word(queue, target_at);
    return target && (ecs_queue_is_main(target) || word(target, target_at)) ? target : NULL;
}

bool ecs_queue_is_global(const void *queue) { return !ecs_queue_is_main(queue) && !word(queue, target_at); }

bool ecs_queue_is_suspended(const void *queue) {
    return !ecs_queue_is_global(queue) && word(queue, state_at) & suspended_mask;
}

// Dispatch itself recognizes its work items by their code.
static bool is_item(const void *block) {
    static void *known;
    void *const *code = function(&known, "_dispatch_block_special_invoke");
    return code && (uint64_t)*code == word(block, code_at) && (word(block, magic_at) & 0xffffffff) == item_magic;
}

object ecs_item_group(const void *block) { return is_item(block) ? (object)word(block, group_at) : NULL; }
bool ecs_item_is_barrier(const void *block) { return is_item(block) && word(block, flags_at) & barrier_flag; }

bool ecs_is_cancelled(ecs_dispatch_job job) {
    return job.is_block && is_item(job.context) && word(job.context, status_at) & cancelled_flag;
}

// Set before the program begins.
static bool knows_semaphores = false;
bool ecs_semaphore_has_takers(const void *semaphore) {
    int64_t made_with = (int64_t)word(semaphore, made_with_at);
    // A semaphore created without permits counts events, which no thread gives back. A negative
    // count is the number of waiting threads.
    return !knows_semaphores || (made_with > 0 && (int64_t)word(semaphore, permits_at) < made_with);
}

#if !__has_feature(thread_sanitizer)
// The test with sample objects.
typedef struct {
    object serial, concurrent, aimed;
} made_queues;

static bool fits(made_queues made) {
    void *change[2] = {NULL, NULL};
    bool fits = ecs_queue_is_serial(made.serial) && !ecs_queue_is_serial(made.concurrent)
        && ecs_queue_target(made.aimed) == made.serial && !ecs_queue_target(made.serial)
        && !ecs_queue_is_suspended(made.serial) && !ecs_queue_is_global(made.serial);
    ((void (*)(object))function(&change[0], "dispatch_suspend"))(made.serial);
    fits = fits && ecs_queue_is_suspended(made.serial);
    ((void (*)(object))function(&change[1], "dispatch_resume"))(made.serial);
    return fits && !ecs_queue_is_suspended(made.serial);
}

static bool knows_queues(void) {
    object (*make)(const char *, object) = dlsym(RTLD_NEXT, "dispatch_queue_create");
    object (*make_aimed)(const char *, object, object) = dlsym(RTLD_NEXT, "dispatch_queue_create_with_target");
    object concurrent = dlsym(RTLD_NEXT, "_dispatch_queue_attr_concurrent");
    object (*global)(intptr_t, uintptr_t) = dlsym(RTLD_NEXT, "dispatch_get_global_queue");
    bool can_keep = dlsym(RTLD_NEXT, "_os_object_retain_internal") && dlsym(RTLD_NEXT, "_os_object_release_internal");
    if (!can_keep || !make || !make_aimed || !concurrent || !global) return false;
    if (!ecs_queue_is_global(global(0, 0))) return false;
    made_queues made = {make("", NULL), make("", concurrent), NULL};
    made.aimed = make_aimed("", NULL, made.serial);
    bool is_known = fits(made);
    ecs_dispatch_release(made.aimed);
    ecs_dispatch_release(made.concurrent);
    ecs_dispatch_release(made.serial);
    return is_known;
}

// A C block, according to its binary interface; copying this one makes no copy.
static void do_nothing(void *block) { (void)block; }

static bool knows_items(void) {
    static const uint64_t descriptor[2] = {0, 32};
    struct {
        void *class;
        uint64_t flags;
        void (*code)(void *);
        const void *descriptor;
    } block = {dlsym(RTLD_DEFAULT, "_NSConcreteGlobalBlock"), 1 << 28, do_nothing, descriptor};
    void *(*make)(uint64_t, void *) = dlsym(RTLD_NEXT, "dispatch_block_create");
    void (*cancel)(void *) = dlsym(RTLD_NEXT, "dispatch_block_cancel");
    void (*release)(const void *) = dlsym(RTLD_DEFAULT, "_Block_release");
    if (!block.class || !make || !cancel || !release) return false;
    void *item = make(barrier_flag, &block), *plain = make(0, &block);
    ecs_dispatch_job job = {NULL, do_nothing, item, NULL, true, false};
    static void *known_wait;
    typedef intptr_t wait_function(object, uint64_t);
    wait_function *wait = (wait_function *)function(&known_wait, "dispatch_group_wait");
    bool is_known = ecs_item_is_barrier(item) && !ecs_item_is_barrier(plain) && !ecs_is_cancelled(job);
    is_known = is_known && ecs_item_group(item) && wait(ecs_item_group(item), 0);
    cancel(item);
    is_known = is_known && ecs_is_cancelled(job);
    ((void (*)(void *))word(item, code_at))(item);
    is_known = is_known && !wait(ecs_item_group(item), 0);
    release(item);
    release(plain);
    return is_known;
}

static bool can_read_semaphores(void) {
    object (*make)(intptr_t) = dlsym(RTLD_NEXT, "dispatch_semaphore_create");
    intptr_t (*wait)(object, uint64_t) = dlsym(RTLD_NEXT, "dispatch_semaphore_wait");
    intptr_t (*signal)(object) = dlsym(RTLD_NEXT, "dispatch_semaphore_signal");
    if (!make || !wait || !signal) return false;
    object made = make(3);
    bool is_known = word(made, permits_at) == 3 && word(made, made_with_at) == 3;
    wait(made, 0);
    is_known = is_known && word(made, permits_at) == 2 && word(made, made_with_at) == 3;
    signal(made);
    ecs_dispatch_release(made);
    return is_known;
}

__attribute__((constructor)) static void test_layouts(void) {
    if (!ecs_asks_for_dispatch()) return;
    knows_semaphores = can_read_semaphores();
    ecs_set_knows_dispatch(knows_queues() && knows_items());
}
#endif
#endif
