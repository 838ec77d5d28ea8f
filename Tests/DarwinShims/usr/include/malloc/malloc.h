#pragma once
#include <stddef.h>
typedef struct malloc_statistics_t {
    unsigned blocks_in_use;
    size_t size_in_use;
    size_t max_size_in_use;
    size_t size_allocated;
} malloc_statistics_t;
typedef struct _malloc_zone_t malloc_zone_t;
void malloc_zone_statistics(malloc_zone_t *_Nullable zone, malloc_statistics_t *_Null_unspecified stats);
