#pragma once
#include <stddef.h>
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
#define SIGSTOP 17
#define SIGUSR1 30
#define SIGUSR2 31
#define SIG_DFL ((void (*)(int))0)
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
#define sigaddset(set, number) (*(set) |= 1u << ((number) - 1), 0)
#define sigdelset(set, number) (*(set) &= ~(1u << ((number) - 1)), 0)
#define sigemptyset(set) (*(set) = 0, 0)
#define sigfillset(set) (*(set) = ~(sigset_t)0, 0)
int pthread_sigmask(int, const sigset_t *, sigset_t *);
typedef struct __siginfo {
    int si_signo;
    int si_errno;
    int si_code;
} siginfo_t;
struct sigaction {
    union {
        void (*__sa_handler)(int);
        void (*__sa_sigaction)(int, siginfo_t *, void *);
    } __sigaction_u;
    sigset_t sa_mask;
    int sa_flags;
};
#define sa_handler __sigaction_u.__sa_handler
#define sa_sigaction __sigaction_u.__sa_sigaction
#define SA_ONSTACK 0x0001
#define SA_RESTART 0x0002
#define SA_SIGINFO 0x0040
#define SS_DISABLE 0x0004
int sigaction(int, const struct sigaction *, struct sigaction *);
int raise(int);
typedef struct {
    void *ss_sp;
    size_t ss_size;
    int ss_flags;
} stack_t;
// Not on tvOS and watchOS.
int sigaltstack(const stack_t *, stack_t *);
#define SA_NODEFER 0x0010
