// Counts allocations and reference counts by the hooks that the Swift runtime has for instruments.
#include "CountReferences.h"

#include <stddef.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

// The runtime's own functions preserve nearly all registers, and their callers rely on it.
#define PRESERVE __attribute__((preserve_most))

typedef void *(*allocate)(const void *type, size_t size, size_t mask);
typedef void *(*PRESERVE retain)(void *object);
typedef void (*PRESERVE release)(void *object);

extern allocate _swift_allocObject;
extern retain _swift_retain;
extern release _swift_release;
extern bool _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly;

static allocate real_allocate;
static retain real_retain;
static release real_release;
static __thread reference_counts counted;
static __thread bool counts_here;

static void *counting_allocate(const void *type, size_t size, size_t mask) {
    counted.objects += counts_here;
    return real_allocate(type, size, mask);
}

static PRESERVE void *counting_retain(void *object) {
    counted.counts += counts_here;
    return real_retain(object);
}

static PRESERVE void counting_release(void *object) {
    counted.counts += counts_here;
    real_release(object);
}

bool count_references_begin(void) {
    if (!real_allocate) {
        real_allocate = _swift_allocObject;
        real_retain = _swift_retain;
        real_release = _swift_release;
        _swift_allocObject = counting_allocate;
        _swift_retain = counting_retain;
        _swift_release = counting_release;
        _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly = true;
    }
    counted = (reference_counts){0, 0};
    counts_here = true;
    return true;
}

reference_counts count_references_end(void) {
    counts_here = false;
    return counted;
}

#else

bool count_references_begin(void) { return false; }

reference_counts count_references_end(void) { return (reference_counts){0, 0}; }

#endif
