#ifndef COUNT_DISPATCH_H
#define COUNT_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

// Counts what enters dispatch queues, at Dispatch's own door and by nobody's word: it knows nothing of contexts.
//
// On Linux the functions of Dispatch that submit work are defined here a second time: async, sync, barrier, group and after,
// but not what Dispatch does by itself, such as sources and notifications. The dynamic linker finds those of the program
// first, so that all calls of the process come here, are counted by the label of their queue, and go on to the real ones.
// On other systems, and under the thread sanitizer, nothing is counted.

/// Whether calls are counted here.
bool count_dispatch_is_available(void);

/// Counts from now on, from zero, what enters queues with exactly this label; -1 if too many labels are counted.
int count_dispatch_begin(const char *label);

/// How much has entered since `count_dispatch_begin` gave this number.
int64_t count_dispatch_value(int number);

/// Counts the label no more; its number may be given again.
void count_dispatch_end(int number);

#endif
