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
//
// Of some atomics the latest values are kept, by number: of as many as there is room for. A load
// may return any of them that its thread does not know to be overwritten, as `SimulatedMemory`
// defines it.

// As many as a schedule has threads; how many accesses a cell has.
enum { most_threads = 64, most_accesses = 4 };
// How many atomics have values at a time, and how many; how often in a row a thread may load the
// same overwritten value: a store becomes visible eventually.
enum { most_atomics = 64, most_values = 8, most_loads = 3 };
// The sizes of the tables, as powers of two: where they begin, and where cells are overwritten.
enum { least_bits = 10, most_bits = 20 };
// Of a longer copy, only so much at each end is checked.
enum { longest_check = 1 << 15 };

typedef struct {
    uint32_t count[most_threads];
    // For each atomic that has values, the oldest that a load may return.
    uint32_t oldest[most_atomics];
} view;

// An atomic that has values.
typedef struct {
    const void *address;
    size_t size;
    // Whether code that is not seen has written it: what its threads know is not known.
    bool is_foreign;
    // Identifies the last value in its schedule.
    uint32_t version;
    uint32_t first, last;
    ecs_value values[most_values];
    // What each passes on.
    view passed[most_values];
    // The overwritten value that a thread has loaded last, and how often.
    struct {
        uint32_t value, count;
    } loaded[most_threads];
} history;

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
    unsigned atomic_count;
    uint32_t last_version;
    history *atomics;
    // The values that sequentially consistent operations have stored, and what fences knew.
    uint32_t total[most_atomics];
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
    order->atomics = zeros(most_atomics, sizeof *order->atomics);
    return order;
}

void ecs_order_free(ecs_order *order) {
    free(order->cells);
    free(order->objects);
    free(order->atomics);
    free(order);
}

void ecs_order_restart(ecs_order *order) {
    order->schedule++;
    order->has_failed = false;
    order->cell_count = order->object_count = 0;
    order->atomic_count = order->last_version = 0;
    memset(order->total, 0, sizeof order->total);
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
    ecs_own.first_frame = (uintptr_t)__builtin_frame_address(0);
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

static void raise(uint32_t *numbers, const uint32_t *others, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (numbers[i] < others[i]) numbers[i] = others[i];
}

static void join(view *one, const view *other) {
    raise(one->count, other->count, most_threads);
    raise(one->oldest, other->oldest, ecs_own.order->atomic_count);
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

// MARK: Atomics

// Frees the values of the atomics in some bytes of memory.
static void forget_atomics(ecs_order *order, uintptr_t start, size_t size) {
    for (unsigned i = 0; i < order->atomic_count; i++) {
        history *atomic = &order->atomics[i];
        uintptr_t address = (uintptr_t)atomic->address;
        if (address < start + size && start < address + atomic->size) atomic->address = NULL;
    }
}

// Begins anew with a value.
static void begin_with(history *atomic, size_t size, ecs_value value, const view *passed) {
    view *target = &atomic->passed[(atomic->last + 1) % most_values];
    if (passed) *target = *passed;
    else memset(target, 0, sizeof *target);
    atomic->size = size;
    atomic->first = ++atomic->last;
    atomic->version = ++ecs_own.order->last_version;
    atomic->values[atomic->last % most_values] = value;
    memset(atomic->loaded, 0, sizeof atomic->loaded);
}

static history *known_history(const void *address) {
    for (unsigned i = 0; i < ecs_own.order->atomic_count; i++)
        if (ecs_own.order->atomics[i].address == address) return &ecs_own.order->atomics[i];
    return NULL;
}

bool ecs_has_values(const void *address) { return known_history(address); }

// The values of an atomic, the last of which is the one in memory. NULL if there is no room.
static history *history_of(const void *address, size_t size, ecs_value value) {
    ecs_order *order = ecs_own.order;
    history *found = known_history(address);
    if (found) {
        if (found->size != size || found->values[found->last % most_values] != value) {
            // What the value before passes on, this one may.
            begin_with(found, size, value, &found->passed[found->last % most_values]);
            found->is_foreign = true;
        }
        return found;
    }
    found = known_history(NULL);
    if (!found) {
        if (order->atomic_count == most_atomics) return NULL;
        found = &order->atomics[order->atomic_count++];
        found->last = 0;
    }
    found->address = address;
    found->is_foreign = false;
    begin_with(found, size, value, view_at(order, address, false));
    return found;
}

static size_t number_of(const history *atomic) { return (size_t)(atomic - ecs_own.order->atomics); }

// The number of the value that a load returns: the last one, or one that the thread does not know
// to be overwritten, if the schedule decides so. It is not `unwanted`.
static uint32_t choose(history *atomic, int order, const ecs_value *unwanted) {
    // All that others did to an object precedes its deinit.
    if (ecs_own.unchecked || ecs_own.is_quiet || atomic->is_foreign) return atomic->last;
    uint32_t thread = ecs_own.thread, oldest = own()->now.oldest[number_of(atomic)], chosen = atomic->last;
    if (order == ecs_total && oldest < ecs_own.order->total[number_of(atomic)])
        oldest = ecs_own.order->total[number_of(atomic)];
    if (oldest < atomic->first) oldest = atomic->first;
    for (uint32_t value = atomic->last; value-- > oldest;) {
        if (atomic->loaded[thread].value == value && atomic->loaded[thread].count >= most_loads) continue;
        if (unwanted && atomic->values[value % most_values] == *unwanted) continue;
        if (!ecs_hooks.loads_earlier(ecs_own.simulation, atomic->address)) continue;
        chosen = value;
        break;
    }
    bool is_same = atomic->loaded[thread].value == chosen;
    atomic->loaded[thread].count = chosen == atomic->last ? 0 : is_same ? atomic->loaded[thread].count + 1 : 1;
    atomic->loaded[thread].value = chosen;
    return chosen;
}

static void see(history *atomic, uint32_t value) {
    uint32_t *oldest = &own()->now.oldest[number_of(atomic)];
    if (*oldest < value) *oldest = value;
}

// Learns what a loaded value passes on.
static void learn(const view *passed, int order) {
    if (!passed) return;
    if (acquires(order)) {
        join(&own()->now, passed);
    } else {
        own()->has_loaded = true;
        join(&own()->loaded, passed);
    }
}

// Adds what a store passes on.
static void pass_on(view *passed, int order) {
    if (releases(order)) {
        join(passed, &own()->now);
        did_pass_on();
    } else if (own()->has_fenced) {
        join(passed, &own()->fenced);
    }
}

static ecs_value load(history *atomic, uint32_t value, int order) {
    ecs_own.version = value == atomic->last ? atomic->version : 0;
    see(atomic, value);
    learn(&atomic->passed[value % most_values], order);
    return atomic->values[value % most_values];
}

// Adds a value. An update also passes on what the value before it does.
static void add(history *atomic, ecs_value value, int order, bool is_update) {
    const view *before = &atomic->passed[atomic->last % most_values];
    uint32_t number = ++atomic->last;
    ecs_own.version = atomic->version = ++ecs_own.order->last_version;
    if (number - atomic->first == most_values) atomic->first++;
    atomic->values[number % most_values] = value;
    see(atomic, number);
    if (order == ecs_total) ecs_own.order->total[number_of(atomic)] = number;
    view *passed = &atomic->passed[number % most_values];
    if (is_update) *passed = *before;
    else memset(passed, 0, sizeof *passed);
    pass_on(passed, order);
}

uint32_t ecs_order_version(const void *address) {
    const history *atomic = ecs_own.order ? known_history(address) : NULL;
    if (!atomic) return 0;
    // Code that is not seen may have written it.
    ecs_value value = atomic->values[atomic->last % most_values];
    return memcmp(address, &value, atomic->size) ? 0 : atomic->version;
}

void ecs_order_settle(void) {
    ecs_order *order = ecs_own.order;
    for (unsigned i = 0; order && i < order->atomic_count; i++)
        for (int thread = 0; thread < most_threads; thread++)
            order->threads[thread].now.oldest[i] = order->atomics[i].last;
}

ecs_value ecs_did_load(const void *address, size_t size, ecs_value value, int order) {
    ecs_own.version = 0;
    history *atomic = history_of(address, size, value);
    if (atomic) return load(atomic, choose(atomic, order, NULL), order);
    learn(view_at(ecs_own.order, address, false), order);
    return value;
}

bool ecs_fails(const void *address, size_t size, ecs_value *value, ecs_value expected, int order) {
    bool is_there = *value == expected;
    ecs_own.version = 0;
    history *atomic = history_of(address, size, *value);
    if (!atomic) {
        if (!is_there) learn(view_at(ecs_own.order, address, false), order);
        return !is_there;
    }
    uint32_t chosen = choose(atomic, order, &expected);
    if (is_there && chosen == atomic->last) return false;
    *value = load(atomic, chosen, order);
    return true;
}

// A store passes on nothing of earlier ones.
void ecs_did_store(const void *address, size_t size, ecs_value before, ecs_value after, int order) {
    ecs_own.version = 0;
    history *atomic = history_of(address, size, before);
    if (atomic) return add(atomic, after, order, false);
    view *passed = view_at(ecs_own.order, address, releases(order) || own()->has_fenced);
    if (!passed) return;
    memset(passed, 0, sizeof *passed);
    pass_on(passed, order);
}

void ecs_did_update(const void *address, size_t size, ecs_value before, ecs_value after, int order) {
    ecs_own.version = 0;
    history *atomic = history_of(address, size, before);
    if (atomic) {
        load(atomic, atomic->last, order);
        return add(atomic, after, order, true);
    }
    view *passed = view_at(ecs_own.order, address, true);
    learn(passed, order);
    pass_on(passed, order);
}

void ecs_did_fence(int order) {
    knowledge *own_knowledge = own();
    if (acquires(order) && own_knowledge->has_loaded) join(&own_knowledge->now, &own_knowledge->loaded);
    if (order == ecs_total) {
        unsigned count = ecs_own.order->atomic_count;
        raise(own_knowledge->now.oldest, ecs_own.order->total, count);
        raise(ecs_own.order->total, own_knowledge->now.oldest, count);
    }
    if (!releases(order)) return;
    own_knowledge->fenced = own_knowledge->now;
    own_knowledge->has_fenced = true;
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
    if (new.is_atomic) cell->has_atomic = true;
    // Another atomic begins there.
    else if (cell->has_atomic && new.is_write)
        forget_atomics(order, (word << 3) + (unsigned)__builtin_ctz(new.bytes), (size_t)__builtin_popcount(new.bytes));
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
            uintptr_t byte = (word << 3) + (unsigned)__builtin_ctz(old->bytes & new.bytes);
            ecs_hooks.did_race(ecs_own.simulation, (const void *)byte, shown(&new), shown(old));
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
    if (cell->has_atomic && !new.is_atomic) return false;
    for (int i = 0; i < most_accesses; i++)
        if (cell->accesses[i].what == new.what) return true;
    return false;
}

void ecs_check(const void *address, size_t size, bool is_write, bool is_atomic, uintptr_t code) {
    uintptr_t start = (uintptr_t)address, here = (uintptr_t)__builtin_frame_address(0);
    // Its own stack. What others access there is checked among themselves.
    if (start - here < ecs_own.end_of_stack - here) {
        if (is_write && !is_atomic) forget_atomics(ecs_own.order, start, size);
        return;
    }
    if (is_write && !is_atomic) ecs_own.did_write = true;
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
    forget_atomics(order, (uintptr_t)start, size);
    forget_all(order, start, size, true);
}

bool ecs_order_may_share(const void *object) {
    ecs_order *order = ecs_own.order;
    return order && !(order->owned == object && order->owner == ecs_own.thread && order->owned_in == order->turn);
}

void ecs_order_own(const void *object, size_t size) {
    ecs_order *order = ecs_own.order;
    forget_all(order, object, size, false);
    for (unsigned i = 0; i < order->atomic_count; i++)
        if ((uintptr_t)order->atomics[i].address - (uintptr_t)object < size) see(&order->atomics[i], order->atomics[i].last);
    order->owned = object;
    order->owner = ecs_own.thread;
    order->owned_in = order->turn;
}
