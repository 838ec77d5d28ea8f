#include "Interposition.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __APPLE__
#include <TargetConditionals.h>
#else
#define TARGET_OS_TV 0
#define TARGET_OS_WATCH 0
#endif

static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGSEGV, SIGFPE};
enum { signal_count = sizeof signals / sizeof *signals, seconds_to_report = 10 };
static struct sigaction earlier[signal_count];

// A trap ends the process, and with it the search: print first what led to it.
static void on_trap(int number, siginfo_t *info, void *context) {
    (void)context;
    for (int i = 0; i < signal_count; i++) sigaction(signals[i], &earlier[i], NULL);
    if (ecs_current()) {
        // The report allocates. If the trap has left a lock of the allocator taken, the alarm ends
        // the process.
        alarm(seconds_to_report);
        ecs_report_trap();
        alarm(0);
    }
    // After the return the instruction traps again, for the earlier handler. A signal that a
    // process has sent does not recur, and abort() would call no handler the second time.
    if (number == SIGABRT || info->si_code <= 0) raise(number);
}

void ecs_watch_traps(void) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < signal_count; i++) sigaction(signals[i], &action, &earlier[i]);
}

static _Thread_local void *signal_stack;

void ecs_use_signal_stack(void) {
#if !TARGET_OS_TV && !TARGET_OS_WATCH
    // A thread that overflows its stack has no room for the report.
    stack_t stack = {.ss_size = 1 << 18};
    if ((stack.ss_sp = signal_stack = malloc(stack.ss_size))) sigaltstack(&stack, NULL);
#endif
}

void ecs_free_signal_stack(void) {
#if !TARGET_OS_TV && !TARGET_OS_WATCH
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    free(signal_stack);
#endif
}
