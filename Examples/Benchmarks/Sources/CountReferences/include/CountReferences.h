#ifndef COUNT_REFERENCES_H
#define COUNT_REFERENCES_H

#include <stdbool.h>
#include <stdint.h>

/// What one thread has asked of the Swift runtime.
typedef struct {
    /// Objects and closures' contexts that it had allocated.
    uint64_t objects;
    /// Retains and releases.
    uint64_t counts;
} reference_counts;

/// Begins to count what the calling thread asks of the runtime; false where a program cannot
/// count it. One thread at a time may count.
bool count_references_begin(void);

/// Ends the count, and returns it.
reference_counts count_references_end(void);

#endif
