#ifndef COUNT_REFERENCES_H
#define COUNT_REFERENCES_H

#include <stdbool.h>
#include <stdint.h>

/// The calls of one thread to the Swift runtime.
typedef struct {
    /// Allocated objects and contexts of closures.
    uint64_t objects;
    /// Retains and releases.
    uint64_t counts;
} reference_counts;

/// Begins to count the calling thread's calls to the runtime; false where a program cannot count
/// them. One thread at a time may count.
bool count_references_begin(void);

/// Ends the count, and returns it.
reference_counts count_references_end(void);

#endif
