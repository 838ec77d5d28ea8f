#pragma once
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
void exit(int) __attribute__((noreturn));
void abort(void) __attribute__((noreturn));
int setenv(const char *_Nonnull, const char *_Nonnull, int);
int unsetenv(const char *_Nonnull);
char *_Nullable getenv(const char *_Nonnull);
void *_Nullable malloc(size_t);
void *_Nullable calloc(size_t, size_t);
void free(void *_Nullable);
