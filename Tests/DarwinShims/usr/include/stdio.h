#pragma once
#include <stddef.h>
typedef struct __sFILE FILE;
extern FILE *_Null_unspecified __stdoutp;
extern FILE *_Null_unspecified __stderrp;
#define stdout __stdoutp
#define stderr __stderrp
int fflush(FILE *_Nullable);
int fprintf(FILE *_Null_unspecified restrict, const char *_Null_unspecified restrict, ...)
    __attribute__((__format__(__printf__, 2, 3)));
int fputs(const char *_Null_unspecified restrict, FILE *_Null_unspecified restrict);
int setvbuf(FILE *_Null_unspecified, char *_Null_unspecified, int, size_t);
#define _IOLBF 1
#define _IONBF 2
int fputs(const char *_Null_unspecified, FILE *_Null_unspecified);
