#ifndef TEST_WIDTH_H
#define TEST_WIDTH_H
// Nothing to call. Linking the target is enough: see TestWidth.c.
#endif
