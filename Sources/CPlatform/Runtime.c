#include "CPlatform.h"

// From the Swift runtime: the call by which a `weak` variable is read.
extern void *swift_tryRetain(void *object);

void *ec_try_retain(void *object) { return swift_tryRetain(object); }
