#include "Order.h"

#include <stdlib.h>
#include <string.h>

// Each thread counts its releases, and knows of each other thread up to which release it follows
// it: its view. An access has the count of its thread, and precedes another one if the thread of
// that one has a view that contains it.
//
// The accesses of each eight bytes of memory are in a cell: the last ones that something could
// still race with. Cells and what objects pass on are in hash tables by address. An entry of an
// earlier schedule is free.

// As many as a schedule has threads; how many accesses a cell has.
enum { most_threads = 64, most_accesses = 4 };
// The sizes of the tables, as powers of two: where they begin, and where cells are overwritten.
enum { least_bits = 10, most_bits = 20 };
// Of a longer copy, only so much at each end is checked.
enum { longest_check = 1 << 15 };

typedef struct {
    uint32_t count[most_threads];
} view;

typedef struct {
    union {
        struct {
            uint32_t count;
            uint8_t thread;
            // Which of the eight bytes; none for an empty entry.
            uint8_t bytes;
            bool is_write;
            bool is_atomic;
        };
        // All of them.
        uint64_t what;
    };
    uintptr_t code;
} access;

typedef struct {
    uintptr_t word;
    uint32_t schedule;
    uint16_t oldest;
    bool has_atomic;
    access accesses[most_accesses];
} cell;

typedef struct {
    uintptr_t address;
    uint32_t schedule;
    view view;
} object;

typedef struct {
    view now;
    // What its relaxed loads would pass on, and what it knew at its last releasing fence.
    view loaded, fenced;
    bool has_loaded, has_fenced;
} knowledge;

struct ecs_order {
    uint32_t schedule;
    // Whether a race was reported: the schedule has failed.
    bool has_failed;
    // Whether two threads have accessed the same memory, in any schedule.
    bool has_shared;
    unsigned cell_bits, object_bits;
    size_t cell_count, object_count;
    // How often accesses of another thread have followed those of one, which was the last.
    uint32_t turn, last_thread;
    // The object that had one owner last, its owner, and the turn of that.
    const void *owned;
    uint32_t owner, owned_in;
    cell *cells;
    object *objects;
    knowledge threads[most_threads];
};

ECS_THREAD_LOCAL ecs_own_thread ecs_own;
ecs_access_hooks ecs_hooks;
static bool tells;

void ecs_set_access_hooks(ecs_access_hooks hooks) { ecs_hooks = hooks; }
// Relaxed: the modules of a program call this before its first thread starts.
bool ecs_tells_accesses(void) { return __atomic_load_n(&tells, __ATOMIC_RELAXED); }
__attribute__((weak, visibility("default"))) void __tsan_init(void) {
    __atomic_store_n(&tells, true, __ATOMIC_RELAXED);
}

// MARK: One search

static void *zeros(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) abort();
    return memory;
}

ecs_order *ecs_order_new(void) {
    ecs_order *order = zeros(1, sizeof *order);
    order->cell_bits = order->object_bits = least_bits;
    order->cells = zeros((size_t)1 << least_bits, sizeof *order->cells);
    order->objects = zeros((size_t)1 << least_bits, sizeof *order->objects);
    return order;
}

void ecs_order_free(ecs_order *order) {
    free(order->cells);
    free(order->objects);
    free(order);
}

void ecs_order_restart(ecs_order *order) {
    order->schedule++;
    order->has_failed = false;
    order->cell_count = order->object_count = 0;
    memset(order->threads, 0, sizeof order->threads);
    // Zero is the count of what was never accessed.
    for (int thread = 0; thread < most_threads; thread++) order->threads[thread].now.count[thread] = 1;
}

void ecs_order_enter(
    ecs_order *order, void *simulation, uint32_t thread, uint32_t owner, const void *end_of_stack) {
    ecs_own.order = order;
    ecs_own.simulation = simulation;
    ecs_own.thread = thread % most_threads;
    ecs_own.owner = owner;
    ecs_own.refused = NULL;
    ecs_own.end_of_stack = (uintptr_t)end_of_stack;
}

void ecs_order_leave(void) { ecs_own.order = NULL; }
ecs_order *ecs_order_of_caller(void) { return ecs_own.order; }
bool ecs_order_has_shared(const ecs_order *order) { return order->has_shared; }

void ecs_accesses_pause(void) { ecs_own.paused++; }
void ecs_accesses_resume(void) { ecs_own.paused--; }

// MARK: Tables

static size_t place(uintptr_t key, unsigned bits) {
    return (size_t)(((uint64_t)key * 0x9e3779b97f4a7c15u) >> (64 - bits));
}

static cell *cell_at(ecs_order *order, uintptr_t word, bool is_new);

static void grow_cells(ecs_order *order) {
    size_t size = (size_t)1 << order->cell_bits++;
    cell *old = order->cells;
    order->cells = zeros(2 * size, sizeof *old);
    order->cell_count = 0;
    for (size_t i = 0; i < size; i++)
        if (old[i].schedule == order->schedule) *cell_at(order, old[i].word, true) = old[i];
    free(old);
}

// The cell of a word of memory. NULL if there is none, and it is not to be made.
static cell *cell_at(ecs_order *order, uintptr_t word, bool is_new) {
    size_t mask = ((size_t)1 << order->cell_bits) - 1, at = place(word, order->cell_bits);
    // A full table overwrites what is nearby: then some races are not found.
    for (int tries = 0; order->cells[at].schedule == order->schedule && order->cells[at].word != word; tries++) {
        if (tries == 64 && order->cell_bits == most_bits) {
            if (is_new) order->cells[at].schedule = 0;
            break;
        }
        at = (at + 1) & mask;
    }
    cell *found = &order->cells[at];
    if (found->schedule == order->schedule && found->word == word) return found;
    if (!is_new) return NULL;
    order->cell_count++;
    if (order->cell_bits < most_bits && 4 * order->cell_count > 3 * (mask + 1)) {
        grow_cells(order);
        return cell_at(order, word, true);
    }
    memset(found, 0, sizeof *found);
    found->word = word;
    found->schedule = order->schedule;
    return found;
}

static view *view_at(ecs_order *order, const void *address, bool is_new);

static void grow_objects(ecs_order *order) {
    size_t size = (size_t)1 << order->object_bits++;
    object *old = order->objects;
    order->objects = zeros(2 * size, sizeof *old);
    order->object_count = 0;
    for (size_t i = 0; i < size; i++)
        if (old[i].schedule == order->schedule) *view_at(order, (void *)old[i].address, true) = old[i].view;
    free(old);
}

// What the object at an address passes on. NULL for nothing, if that is not to be changed.
static view *view_at(ecs_order *order, const void *address, bool is_new) {
    size_t mask = ((size_t)1 << order->object_bits) - 1, at = place((uintptr_t)address, order->object_bits);
    while (order->objects[at].schedule == order->schedule && order->objects[at].address != (uintptr_t)address)
        at = (at + 1) & mask;
    object *found = &order->objects[at];
    if (found->schedule == order->schedule) return &found->view;
    if (!is_new) return NULL;
    if (4 * ++order->object_count > 3 * (mask + 1)) {
        grow_objects(order);
        return view_at(order, address, true);
    }
    memset(found, 0, sizeof *found);
    found->address = (uintptr_t)address;
    found->schedule = order->schedule;
    return &found->view;
}

// MARK: What precedes what

static void join(view *one, const view *other) {
    for (int i = 0; i < most_threads; i++)
        if (one->count[i] < other->count[i]) one->count[i] = other->count[i];
}

static knowledge *own(void) { return &ecs_own.order->threads[ecs_own.thread]; }

// What the calling thread accesses next is not part of what it has passed on.
static void did_pass_on(void) { own()->now.count[ecs_own.thread]++; }

void ecs_order_release(const void *address) {
    if (!ecs_own.order) return;
    join(view_at(ecs_own.order, address, true), &own()->now);
    did_pass_on();
}

void ecs_order_acquire(const void *address) {
    const view *passed = ecs_own.order ? view_at(ecs_own.order, address, false) : NULL;
    if (passed) join(&own()->now, passed);
}

void ecs_order_acquire_all(void) {
    if (!ecs_own.order) return;
    for (int thread = 0; thread < most_threads; thread++) {
        knowledge *other = &ecs_own.order->threads[thread];
        join(&own()->now, &other->now);
        if (thread != (int)ecs_own.thread) other->now.count[thread]++;
    }
}

bool ecs_order_did_refuse(const void *mutex) {
    bool did_refuse = ecs_own.order && ecs_own.refused == mutex;
    if (did_refuse) ecs_own.refused = NULL;
    return did_refuse;
}

void ecs_order_pass_to(uint32_t thread) {
    if (!ecs_own.order) return;
    join(&ecs_own.order->threads[thread % most_threads].now, &own()->now);
    did_pass_on();
}

static bool acquires(int order) {
    return order == ecs_consume || order == ecs_acquiring || order >= ecs_acquiring_and_releasing;
}
static bool releases(int order) { return order >= ecs_releasing; }

static void load(const view *passed, int order) {
    if (!passed) return;
    if (acquires(order)) {
        join(&own()->now, passed);
    } else {
        own()->has_loaded = true;
        join(&own()->loaded, passed);
    }
}

// Adds what a store passes on.
static void store(view *passed, int order) {
    if (releases(order)) {
        join(passed, &own()->now);
        did_pass_on();
    } else if (own()->has_fenced) {
        join(passed, &own()->fenced);
    }
}

void ecs_did_load(const void *atomic, int order) { load(view_at(ecs_own.order, atomic, false), order); }

// A store passes on nothing of earlier ones, an update does.
void ecs_did_store(const void *atomic, int order) {
    view *passed = view_at(ecs_own.order, atomic, releases(order) || own()->has_fenced);
    if (!passed) return;
    memset(passed, 0, sizeof *passed);
    store(passed, order);
}

void ecs_did_update(const void *atomic, int order) {
    view *passed = view_at(ecs_own.order, atomic, true);
    load(passed, order);
    store(passed, order);
}

void ecs_did_fence(int order) {
    if (!ecs_own.order) return;
    if (acquires(order) && own()->has_loaded) join(&own()->now, &own()->loaded);
    if (!releases(order)) return;
    own()->fenced = own()->now;
    own()->has_fenced = true;
    did_pass_on();
}

// MARK: Accesses

static ecs_access shown(const access *access) {
    return (ecs_access){access->thread, access->is_write, access->is_atomic, access->code};
}

static void forget(cell *cell, bool is_freed) {
    if (is_freed && cell->has_atomic) ecs_hooks.did_free(ecs_own.simulation, (const void *)(cell->word << 3));
    memset(cell->accesses, 0, sizeof cell->accesses);
    if (is_freed) cell->has_atomic = false;
}

static void forget_all(ecs_order *order, const void *start, size_t size, bool is_freed) {
    if (!order->cell_count) return;
    uintptr_t first = (uintptr_t)start >> 3, end = ((uintptr_t)start + size + 7) >> 3;
    if (end - first <= (size_t)1 << order->cell_bits) {
        for (uintptr_t word = first; word < end; word++) {
            cell *cell = cell_at(order, word, false);
            if (cell) forget(cell, is_freed);
        }
        return;
    }
    for (size_t i = 0; i < (size_t)1 << order->cell_bits; i++) {
        cell *cell = &order->cells[i];
        if (cell->schedule == order->schedule && cell->word >= first && cell->word < end) forget(cell, is_freed);
    }
}

// Checks an access of some bytes of one word, and adds it to the word's cell.
static void check(uintptr_t word, access new, bool has_forgotten) {
    ecs_order *order = ecs_own.order;
    if (order->last_thread != new.thread) {
        order->last_thread = new.thread;
        order->turn++;
    }
    cell *cell = cell_at(order, word, true);
    const view *known = &own()->now;
    access *target = NULL;
    for (int i = 0; i < most_accesses; i++) {
        access *old = &cell->accesses[i];
        if (!old->bytes) {
            if (!target) target = old;
            continue;
        }
        if (!(old->bytes & new.bytes)) continue;
        if (old->thread != new.thread) order->has_shared = true;
        bool is_own = old->thread == new.thread, precedes = is_own || old->count <= known->count[old->thread];
        if (!precedes && (old->is_write || new.is_write) && !(old->is_atomic && new.is_atomic)) {
            if (order->has_failed) return;
            size_t size;
            const void *buffer =
                has_forgotten ? NULL : ecs_hooks.owned_buffer((const void *)(word << 3), &size);
            if (buffer) {
                forget_all(order, buffer, size, false);
                return check(word, new, true);
            }
            order->has_failed = true;
            ecs_hooks.did_race(
                ecs_own.simulation, (const void *)(word << 3), shown(&new), shown(old));
            return;
        }
        // Whatever could race with the old access races with the new one.
        bool is_covered = precedes && !(old->bytes & ~new.bytes) && (new.is_write || !old->is_write)
            && (!new.is_atomic || old->is_atomic);
        // The old one does the same for the new one.
        if (is_own && old->count == new.count && !(new.bytes & ~old->bytes)
            && (old->is_write || !new.is_write) && (!old->is_atomic || new.is_atomic))
            return;
        if (!is_covered) continue;
        if (target) old->bytes = 0;
        else target = old;
    }
    if (!target) target = &cell->accesses[cell->oldest++ % most_accesses];
    *target = new;
    if (new.is_atomic) cell->has_atomic = true;
}

static void check_range(uintptr_t start, size_t size, access new) {
    while (size) {
        size_t first = start & 7, count = size < 8 - first ? size : 8 - first;
        new.bytes = (uint8_t)(((1u << count) - 1) << first);
        check(start >> 3, new, false);
        start += count;
        size -= count;
    }
}

// Whether the thread has just done the same: most accesses are like one before.
static bool is_known(uintptr_t start, size_t size, access new) {
    size_t first = start & 7;
    if (first + size > 8) return false;
    new.bytes = (uint8_t)(((1u << size) - 1) << first);
    const ecs_order *order = ecs_own.order;
    const cell *cell = &order->cells[place(start >> 3, order->cell_bits)];
    if (cell->word != start >> 3 || cell->schedule != order->schedule || order->last_thread != new.thread) return false;
    for (int i = 0; i < most_accesses; i++)
        if (cell->accesses[i].what == new.what) return true;
    return false;
}

void ecs_check(const void *address, size_t size, bool is_write, bool is_atomic, uintptr_t code) {
    uintptr_t start = (uintptr_t)address, here = (uintptr_t)__builtin_frame_address(0);
    // Its own stack. What others access there is checked among themselves.
    if (start - here < ecs_own.end_of_stack - here) return;
    access new = {
        {{own()->now.count[ecs_own.thread], (uint8_t)ecs_own.thread, 0, is_write, is_atomic}}, code};
    if (is_known(start, size, new)) return;
    if (size <= 2 * longest_check) return check_range(start, size, new);
    check_range(start, longest_check, new);
    check_range(start + size - longest_check, longest_check, new);
}

void ecs_order_forget(const void *start, size_t size) {
    ecs_order *order = ecs_own.order;
    if (!order) return;
    if (start == order->owned) order->owned = NULL;
    forget_all(order, start, size, true);
}

bool ecs_order_may_share(const void *object) {
    ecs_order *order = ecs_own.order;
    return order && !(order->owned == object && order->owner == ecs_own.thread && order->owned_in == order->turn);
}

void ecs_order_own(const void *object, size_t size) {
    ecs_order *order = ecs_own.order;
    forget_all(order, object, size, false);
    order->owned = object;
    order->owner = ecs_own.thread;
    order->owned_in = order->turn;
}
