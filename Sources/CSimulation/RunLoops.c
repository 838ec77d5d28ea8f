#ifdef __linux__
// For RTLD_NEXT.
#define _GNU_SOURCE
#include "Interposition.h"

#include <dlfcn.h>

// Run loops, timers and threads of Foundation. Run loops and timers wait in real time. A simulation
// names them: a thread that runs a run loop would be blocked for no reason that its author can see.
// A new thread is one of the simulation.
//
// Compiled code calls these functions of Foundation through the dynamic linker.
#define SELF __attribute__((swift_context))
#define NAMED(result, name, arguments, symbol) \
    typedef SWIFT_CALL result name##_function arguments; \
    extern name##_function ecs_real_time_##name __asm__(symbol); \
    __attribute__((weak)) SWIFT_CALL result ecs_real_time_##name arguments
#define REAL(name, symbol) \
    static void *known; \
    name##_function *real = (name##_function *)ecs_original(&known, symbol, NULL)

// Whether the calling thread is simulated: then it has run nothing, and other threads may run.
static bool runs_nothing(void) {
    if (!ecs_current()) return false;
    ecs_will_give_away("a run loop");
    return ecs_sleep(0);
}

// XCTest waits for an expectation by a run loop that has nothing else to run, and stops that when
// it has to look again: in a simulation this is a condition. A limit is a job of XCTest's queue.
static uint32_t stops;
static const ecs_lock looks_again = {ecs_expectation, &stops, NULL};

static bool waits_for_expectation(const void *caller) {
    return ecs_current() && ecs_is_xctest(caller) && ecs_wait(looks_again, INT64_MAX) != ecs_not_waited;
}

#define STOP "$s10Foundation7RunLoopC5_stopyyF"
NAMED(void, stop, (SELF void *loop), STOP) {
    REAL(stop, STOP);
    if (ecs_is_xctest(__builtin_return_address(0))) ecs_did_signal(looks_again, true);
    real(loop);
}

#define RUN "$s10Foundation7RunLoopC3runyyF"
NAMED(void, run, (SELF void *loop), RUN) {
    REAL(run, RUN);
    if (!runs_nothing()) real(loop);
}

#define RUN_UNTIL "$s10Foundation7RunLoopC3run5untily0A10Essentials4DateV_tF"
NAMED(void, run_until, (double date, SELF void *loop), RUN_UNTIL) {
    REAL(run_until, RUN_UNTIL);
    if (!runs_nothing()) real(date, loop);
}

// A mode is a string.
#define RUN_MODE "$s10Foundation7RunLoopC3run4mode6beforeSbAC4ModeV_0A10Essentials4DateVtF"
NAMED(bool, run_mode, (uintptr_t mode, uintptr_t bytes, double date, SELF void *loop), RUN_MODE) {
    REAL(run_mode, RUN_MODE);
    if (waits_for_expectation(__builtin_return_address(0))) return true;
    return !runs_nothing() && real(mode, bytes, date, loop);
}

#define PERFORM "$s10Foundation7RunLoopC7performyyyyYbcF"
NAMED(void, perform, (void *function, void *context, SELF void *loop), PERFORM) {
    REAL(perform, PERFORM);
    if (!ecs_is_xctest(__builtin_return_address(0))) ecs_will_give_away("a run loop");
    real(function, context, loop);
}

#define PERFORM_IN_MODES "$s10Foundation7RunLoopC7perform7inModes5blockySayAC4ModeVG_yyYbctF"
NAMED(void, perform_in_modes, (void *modes, void *function, void *context, SELF void *loop), PERFORM_IN_MODES) {
    REAL(perform_in_modes, PERFORM_IN_MODES);
    ecs_will_give_away("a run loop");
    real(modes, function, context, loop);
}

// Each function returns a timer that it has made; `type` is its class.
#define TIMER "$s10Foundation5TimerC12timeInterval7repeats5blockACSd_SbyACYbctcfC"
NAMED(void *, timer, (double interval, bool repeats, void *function, void *context, SELF void *type), TIMER) {
    REAL(timer, TIMER);
    ecs_will_give_away("a timer of Foundation");
    return real(interval, repeats, function, context, type);
}

#define SCHEDULED "$s10Foundation5TimerC09scheduledB016withTimeInterval7repeats5blockACSd_SbyACYbctFZ"
NAMED(void *, scheduled, (double interval, bool repeats, void *function, void *context, SELF void *type), SCHEDULED) {
    REAL(scheduled, SCHEDULED);
    ecs_will_give_away("a timer of Foundation");
    return real(interval, repeats, function, context, type);
}

#define FIRE "$s10Foundation5TimerC4fire8interval7repeats5blockAC0A10Essentials4DateV_SdSbyACYbctcfC"
NAMED(void *, fire, (double date, double interval, bool repeats, void *function, void *context, SELF void *type), FIRE) {
    REAL(fire, FIRE);
    ecs_will_give_away("a timer of Foundation");
    return real(date, interval, repeats, function, context, type);
}

// An optimized build creates the object itself, and calls this function to initialize it.
#define FIRE_OBJECT "$s10Foundation5TimerC4fire8interval7repeats5blockAC0A10Essentials4DateV_SdSbyACYbctcfc"
NAMED(void *, fire_object,
      (double date, double interval, bool repeats, void *function, void *context, SELF void *object), FIRE_OBJECT) {
    REAL(fire_object, FIRE_OBJECT);
    ecs_will_give_away("a timer of Foundation");
    return real(date, interval, repeats, function, context, object);
}

// XCTest waits for expectations on the main thread only. In a simulation that is the test's thread.
#define IS_MAIN "$s10Foundation6ThreadC06isMainB0SbvgZ"
NAMED(bool, is_main, (SELF void *type), IS_MAIN) {
    REAL(is_main, IS_MAIN);
    return ecs_current() && ecs_is_xctest(__builtin_return_address(0)) ? true : real(type);
}

#define DETACH "$s10Foundation6ThreadC09detachNewB0yyyyYbcFZ"
NAMED(void, detach, (void *function, void *context, SELF void *type), DETACH) {
    REAL(detach, DETACH);
    bool may_pause = !ecs_is_xctest(__builtin_return_address(0));
    if (!ecs_run_on_new_thread(function, context, may_pause)) real(function, context, type);
}
#endif
