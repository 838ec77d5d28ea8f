#include "CDiagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

// The pipe of each signal: a handler may do little more than write. A pipe is kept for the process,
// because a handler may still be running when its signal is restored.
enum { most_signals = 65 };
static struct {
    int read_end, write_end;
    // A forked child has the same pipe, and must not write to its parent.
    pid_t process;
    struct sigaction before;
} signals[most_signals];

static void tell(int number, char what) {
    int saved = errno;
    // A full pipe has already reported a signal.
    if (getpid() == signals[number].process && write(signals[number].write_end, &what, 1) < 0) errno = saved;
    errno = saved;
}

static void arrived(int number) { tell(number, 1); }

int ecd_signal_receive(int number) {
    if (number <= 0 || number >= most_signals) return -1;
    if (signals[number].write_end == 0) {
        int ends[2];
        if (pipe(ends) != 0) return -1;
        for (int i = 0; i < 2; i++) {
            fcntl(ends[i], F_SETFD, FD_CLOEXEC);
            fcntl(ends[i], F_SETFL, O_NONBLOCK);
        }
        signals[number].read_end = ends[0];
        signals[number].write_end = ends[1];
        signals[number].process = getpid();
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = arrived;
    action.sa_flags = SA_RESTART;
    if (sigaction(number, &action, &signals[number].before) != 0) return -1;
    return signals[number].read_end;
}

void ecd_signal_restore(int number) { sigaction(number, &signals[number].before, 0); }

bool ecd_signal_wait(int read_end) {
    char bytes[64];
    struct pollfd polled = {.fd = read_end, .events = POLLIN};
    ssize_t count;
    while ((count = read(read_end, bytes, sizeof bytes)) <= 0) poll(&polled, 1, -1);
    return memchr(bytes, 1, (size_t)count) != 0;
}

void ecd_signal_wake(int number) { tell(number, 0); }
