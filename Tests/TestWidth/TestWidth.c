#include <stdlib.h>

#include "TestWidth.h"

// Swift Testing begins every test case at once, and this package has five thousand of them. A test
// that awaits is then resumed behind all the others, and on a slow machine its time limit ends
// first. Swift Testing reads this variable before the first test. A value that the caller has set
// is kept.
__attribute__((constructor)) static void limit_test_cases(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "8", 0);
}
