#ifdef __linux__
#define _GNU_SOURCE
#include "Interposition.h"

#include <time.h>

// Dispatch times. Its clock stays real in a simulation, since its queues and timers are outside. A
// time limit that a program derives from it is recorded, to be mapped to simulated time.

/// Reads a system clock, also on a simulated thread.
int ecs_system_clock(clockid_t clock, struct timespec *time);

static const uint64_t forever = ~(uint64_t)0, date_now = ~(uint64_t)1, continuous_bit = (uint64_t)1 << 63,
                      date_bit = (uint64_t)1 << 62;
static const int64_t second = 1000000000;

static bool is_now(uint64_t time) { return time == 0 || time == continuous_bit || time == date_now; }

// Dispatch encodes a time as nanoseconds of uptime, as the same with a bit for the clock that
// advances while the machine sleeps, or as a negated date.
ecs_time ecs_time_of(uint64_t time) {
    ecs_clock clock = !(time & continuous_bit) ? ecs_uptime : time & date_bit ? ecs_date : ecs_continuous;
    int64_t value = clock == ecs_uptime ? (int64_t)time
        : clock == ecs_date             ? -(int64_t)time
                                        : (int64_t)(time & ~continuous_bit);
    // Dispatch treats times beyond its range as forever.
    bool is_never = time == forever || value >= (int64_t)date_bit;
    return (ecs_time){is_never ? ecs_never : is_now(time) ? ecs_now_itself : ecs_instant, clock, value};
}

int64_t ecs_clock_start(ecs_clock clock) {
    return (clock == ecs_date ? ecs_first_date : ecs_first_uptime) * second;
}

int64_t ecs_real_time(ecs_clock clock) {
    struct timespec time;
    clockid_t number = clock == ecs_date ? CLOCK_REALTIME : clock == ecs_continuous ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
    ecs_system_clock(number, &time);
    return time.tv_sec * second + time.tv_nsec;
}

#if !__has_feature(thread_sanitizer)
static uint64_t real_time(uint64_t base, int64_t delta) {
    static void *known;
    return ((uint64_t (*)(uint64_t, int64_t))ecs_original(&known, "dispatch_time", NULL))(base, delta);
}

// Adds to a time, and records the distance of the sum.
static uint64_t sum(uint64_t base, int64_t delta) {
    uint64_t time = real_time(base, delta);
    if (delta) ecs_did_add(base, delta, time);
    return time;
}

__attribute__((weak)) uint64_t dispatch_time(uint64_t base, int64_t delta) {
    if (!ecs_current()) return real_time(base, delta);
    if (!is_now(base)) return sum(base, delta);
    uint64_t now = real_time(base, 0);
    ecs_did_read(now);
    return sum(now, delta);
}

__attribute__((weak)) uint64_t dispatch_walltime(const struct timespec *when, int64_t delta) {
    static void *known;
    typedef uint64_t function(const struct timespec *, int64_t);
    function *real = (function *)ecs_original(&known, "dispatch_walltime", NULL);
    if (when || !ecs_current()) return real(when, delta);
    uint64_t now = real(NULL, 0);
    ecs_did_read(now);
    return sum(now, delta);
}
#endif
#endif
