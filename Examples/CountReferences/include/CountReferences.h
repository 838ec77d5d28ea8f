#ifndef COUNT_REFERENCES_H
#define COUNT_REFERENCES_H

#include <stdbool.h>
#include <stdint.h>

/// What the Swift runtime has done on one thread.
typedef struct {
    /// Objects and closures' contexts that it has allocated.
    uint64_t objects;
    /// Retains and releases.
    uint64_t counts;
} reference_counts;

/// Begins to count what the runtime does on the calling thread; false where the runtime does not
/// let a program see it.
bool count_references_begin(void);

/// Ends the count, and returns it.
reference_counts count_references_end(void);

#endif
