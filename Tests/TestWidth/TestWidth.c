#include <stdlib.h>

#include "TestWidth.h"

// Swift Testing begins every test case at once, and this package has five thousand of them. A test that
// awaits then waits behind all the others, so that on a slow machine its patience ends before its turn
// comes. It reads this variable before the first test; a value that the caller has set is kept.
__attribute__((constructor)) static void limit_test_cases(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "8", 0);
}
