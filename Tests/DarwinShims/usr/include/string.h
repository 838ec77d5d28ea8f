#pragma once
#include <stddef.h>
void *_Nonnull memcpy(void *_Nonnull destination, const void *_Nonnull source, size_t count);
int strncmp(const char *_Nonnull one, const char *_Nonnull other, size_t count);
void *_Nonnull memmove(void *_Nonnull destination, const void *_Nonnull source, size_t count);
void *_Nonnull memset(void *_Nonnull destination, int value, size_t count);
int memcmp(const void *_Nonnull one, const void *_Nonnull other, size_t count);
int strcmp(const char *_Nonnull first, const char *_Nonnull second);
char *_Nonnull strerror(int code);
size_t strlen(const char *_Nonnull string);
void *memchr(const void *, int, unsigned long);
