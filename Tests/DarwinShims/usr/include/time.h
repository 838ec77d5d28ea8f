#pragma once
#include <stdint.h>
typedef enum {
    _CLOCK_REALTIME = 0,
#define CLOCK_REALTIME _CLOCK_REALTIME
    _CLOCK_MONOTONIC = 6,
#define CLOCK_MONOTONIC _CLOCK_MONOTONIC
    _CLOCK_MONOTONIC_RAW = 4,
#define CLOCK_MONOTONIC_RAW _CLOCK_MONOTONIC_RAW
    _CLOCK_UPTIME_RAW = 8,
#define CLOCK_UPTIME_RAW _CLOCK_UPTIME_RAW
    _CLOCK_PROCESS_CPUTIME_ID = 12,
#define CLOCK_PROCESS_CPUTIME_ID _CLOCK_PROCESS_CPUTIME_ID
    _CLOCK_THREAD_CPUTIME_ID = 16,
#define CLOCK_THREAD_CPUTIME_ID _CLOCK_THREAD_CPUTIME_ID
} clockid_t;
struct timespec {
    long tv_sec;
    long tv_nsec;
};
int clock_gettime(clockid_t clock_id, struct timespec *tp);
uint64_t clock_gettime_nsec_np(clockid_t clock_id);
