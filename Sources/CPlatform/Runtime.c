#include "CPlatform.h"

// Of the Swift runtime; it is how a `weak` variable is read.
extern void *swift_tryRetain(void *object);

void *ec_try_retain(void *object) { return swift_tryRetain(object); }
