#ifdef __linux__
#define _GNU_SOURCE
#include "Interposition.h"

#include <CAccesses.h>

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

// Memory that is freed may be used for something else, of which earlier accesses tell nothing.

#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
typedef void on_memory(void *);
typedef void *new_memory(void *, size_t);

static void forget(void *memory) {
    if (memory && ecs_order_of_caller()) ecs_order_forget(memory, malloc_usable_size(memory));
}

// A look-up that follows one which has failed frees the message of that.
static void *known_free;
static ECS_THREAD_LOCAL bool looks_up;
static on_memory *original_free(void) {
    if (looks_up) return NULL;
    looks_up = true;
    on_memory *original = (on_memory *)ecs_original(&known_free, "free", NULL);
    looks_up = false;
    return original;
}
// Before the program has other threads.
__attribute__((constructor(101))) static void find_free(void) { original_free(); }

__attribute__((weak)) void free(void *memory) {
    forget(memory);
    on_memory *original = (on_memory *)__atomic_load_n(&known_free, __ATOMIC_RELAXED);
    if (!original) original = original_free();
    // In the middle of the look-up, the message is left.
    if (original) original(memory);
}

// Copy-on-write: the only owner of a buffer or an object writes it in place.
typedef bool is_unique(const void *);

// The counts of an object that has one reference and is in memory of its own, not on a stack.
enum { counts_of_one = 3 };

static bool note(bool is_unique, const void *object) {
    if (is_unique && ecs_order_may_share(object) && ((const uint64_t *)object)[1] == counts_of_one)
        ecs_order_own(object, malloc_usable_size((void *)(uintptr_t)object));
    return is_unique;
}

__attribute__((weak)) bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
    static void *known;
    const char *name = "swift_isUniquelyReferenced_nonNull_native";
    return note(((is_unique *)ecs_original(&known, name, NULL))(object), object);
}

__attribute__((weak)) bool swift_isUniquelyReferenced_native(const void *object) {
    static void *known;
    return note(((is_unique *)ecs_original(&known, "swift_isUniquelyReferenced_native", NULL))(object), object);
}

typedef SWIFT_CALL bool is_known_unique(void **object, const void *type);
is_known_unique is_known_unique_object __asm__("$ss25isKnownUniquelyReferencedySbxzRlzClF");
is_known_unique is_known_unique_optional __asm__("$ss25isKnownUniquelyReferencedySbxSgzRlzClF");

__attribute__((weak)) SWIFT_CALL bool is_known_unique_object(void **object, const void *type) {
    static void *known;
    const char *name = "$ss25isKnownUniquelyReferencedySbxzRlzClF";
    return note(((is_known_unique *)ecs_original(&known, name, NULL))(object, type), *object);
}

__attribute__((weak)) SWIFT_CALL bool is_known_unique_optional(void **object, const void *type) {
    static void *known;
    const char *name = "$ss25isKnownUniquelyReferencedySbxSgzRlzClF";
    return note(((is_known_unique *)ecs_original(&known, name, NULL))(object, type), *object);
}

__attribute__((weak)) void *realloc(void *memory, size_t size) {
    static void *known;
    forget(memory);
    return ((new_memory *)ecs_original(&known, "realloc", NULL))(memory, size);
}

// The library's own functions ask that elsewhere. So a buffer that only one thread has is
// recognized when it is used: by its class, and by the size of the memory that begins with it.
static const void *collections[4];
__attribute__((constructor)) static void find_collections(void) {
    static const char *const names[] = {
        "$ss28__ContiguousArrayStorageBaseCMn", "$ss22__RawDictionaryStorageCMn", "$ss15__RawSetStorageCMn",
        "$ss13ManagedBufferCMn"};
    for (int i = 0; i < 4; i++) collections[i] = dlsym(RTLD_DEFAULT, names[i]);
}

// The metadata of a class: a kind, its superclass, and after its sizes its description.
static bool is_collection(uintptr_t metadata) {
    enum { superclass_at = 1, description_at = 5, word_count, most_superclasses = 8 };
    uintptr_t words[word_count];
    for (int depth = 0; metadata && metadata % sizeof metadata == 0 && depth < most_superclasses; depth++) {
        if (!ecs_read((const void *)metadata, words, sizeof words) || words[0]) return false;
        for (int i = 0; i < 4; i++)
            if (collections[i] && words[description_at] == (uintptr_t)collections[i]) return true;
        metadata = words[superclass_at];
    }
    return false;
}

// The size of the block of memory that may begin at an address, after a word with its size; zero if
// none does. The lowest bits of that word are flags: whether the block before is in use, and
// whether the block has pages of its own. The next block says that this one is in use.
static size_t is_block(uintptr_t start, uintptr_t header) {
    enum { is_used = 1, has_pages = 2, flags = 7, least = 32, most = 1 << 26, page = 4096 };
    uintptr_t size = header & ~(uintptr_t)flags, next;
    if (start % 16 || size % 16 || size < least || size > most) return 0;
    if (header & has_pages) return start % page == 16 && size % page == 0 ? size - 16 : 0;
    if (!ecs_read((const void *)(start + size - 8), &next, sizeof next) || !(next & is_used)) return 0;
    return size - 8;
}

// Whether an object has one reference. Its counts follow the pointer to its class: this is what
// they are for one. It may be no object: the runtime's own function could follow a pointer that is
// none.
static bool has_one_owner(uintptr_t object) {
    uint64_t counts;
    return ecs_read((const void *)(object + 8), &counts, sizeof counts) && counts == counts_of_one;
}

static bool contains(uintptr_t object, uintptr_t header, uintptr_t first, const void *address, size_t *size,
                     bool (*is_start)(uintptr_t)) {
    *size = is_block(object, header);
    return object + *size > (uintptr_t)address && is_start(first);
}

const void *ecs_block(const void *address, bool (*is_start)(uintptr_t), size_t *size) {
    // The words before the address are read page by page: the first one may begin the heap.
    enum { page = 4096, count = page / sizeof(uintptr_t), farthest = 1 << 21 };
    uintptr_t words[count], end = ((uintptr_t)address & ~(uintptr_t)7) + 8, first = end - farthest;
    while (end > first) {
        uintptr_t start = (end - 8) & ~(uintptr_t)(page - 1), header;
        if (!ecs_read((const void *)start, words, end - start)) return NULL;
        for (size_t i = (end - start) / sizeof *words; i-- > 1;)
            if (contains(start + i * sizeof *words, words[i - 1], words[i], address, size, is_start))
                return (const void *)(start + i * sizeof *words);
        if (ecs_read((const void *)(start - 8), &header, sizeof header)
            && contains(start, header, words[0], address, size, is_start))
            return (const void *)start;
        end = start;
    }
    return NULL;
}

const void *ecs_owned_buffer(const void *address, size_t *size) {
    const void *buffer = ecs_block(address, is_collection, size);
    return buffer && has_one_owner((uintptr_t)buffer) ? buffer : NULL;
}
#else
const void *ecs_block(const void *address, bool (*is_start)(uintptr_t), size_t *size) {
    (void)address, (void)is_start, (void)size;
    return NULL;
}
const void *ecs_owned_buffer(const void *address, size_t *size) {
    (void)address, (void)size;
    return NULL;
}
#endif
#endif
