#ifndef COUNT_DISPATCH_H
#define COUNT_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

// Counts submissions to dispatch queues at the functions of Dispatch, independently of contexts.
//
// On Linux this target defines the functions of Dispatch that submit work a second time: async,
// sync, barrier, group and after. It does not define those that Dispatch calls itself, such as
// sources and notifications. The dynamic linker prefers the definitions of the program. So
// each call of the process arrives here, is counted by the label of its queue, and is forwarded to
// Dispatch.
//
// On other systems, and under the thread sanitizer, nothing is counted.

/// Whether calls are counted on this system.
bool count_dispatch_is_available(void);

/// Begins to count submissions to queues with exactly this label. Returns a number for the count,
/// or -1 if too many labels are counted.
int count_dispatch_begin(const char *label);

/// How many submissions there were since `count_dispatch_begin` returned this number.
int64_t count_dispatch_value(int number);

/// Stops counting the label. Its number may be reused.
void count_dispatch_end(int number);

#endif
