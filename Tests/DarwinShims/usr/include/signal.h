#pragma once
#include <stdint.h>
typedef uint32_t sigset_t;
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGSYS 12
#define SIGPIPE 13
#define SIGTERM 15
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
#define sigaddset(set, number) (*(set) |= 1u << ((number) - 1), 0)
#define sigdelset(set, number) (*(set) &= ~(1u << ((number) - 1)), 0)
#define sigemptyset(set) (*(set) = 0, 0)
#define sigfillset(set) (*(set) = ~(sigset_t)0, 0)
int pthread_sigmask(int, const sigset_t *, sigset_t *);
