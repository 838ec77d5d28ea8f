#pragma once
#include <stdint.h>
typedef enum : uint32_t {
    OS_CLOCK_MACH_ABSOLUTE_TIME = 32,
} os_clockid_t;
