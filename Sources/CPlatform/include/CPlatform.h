#ifndef CPLATFORM_H
#define CPLATFORM_H

// What Swift cannot say: variables that each thread has for itself, the processor's hint for waiting loops,
// and the one variadic system call of a Linux lock. Everything else is Swift.

#include <stdint.h>

/// One entry of the list of contexts that the calling thread is running work of, innermost first.
typedef struct ec_frame {
    /// Which context: the address of an object that lives as long as the frame.
    const void *_Nonnull owner;
    /// The frame around this one.
    struct ec_frame *_Nullable parent;
    /// Free for the owner's use while the frame stands.
    intptr_t note;
} ec_frame;

// Initial-exec where the linker offers it: a load at a fixed offset from the thread pointer instead of
// a call. The two words fit the space that the C library keeps for libraries opened later.
#if defined(__ELF__)
#define EC_THREAD_LOCAL extern _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define EC_THREAD_LOCAL extern _Thread_local
#endif

EC_THREAD_LOCAL ec_frame *_Nullable ec_frame_storage;
EC_THREAD_LOCAL void *_Nullable ec_trampoline_storage;

/// The innermost frame of the calling thread.
static inline ec_frame *_Nullable ec_frame_top(void) { return ec_frame_storage; }
static inline void ec_frame_set_top(ec_frame *_Nullable frame) { ec_frame_storage = frame; }

/// A number that no other living thread has; never zero.
static inline uintptr_t ec_thread_identity(void) { return (uintptr_t)&ec_frame_storage; }

/// The queue of the trampoline that runs on the calling thread.
static inline void *_Nullable ec_trampoline(void) { return ec_trampoline_storage; }
static inline void ec_set_trampoline(void *_Nullable queue) { ec_trampoline_storage = queue; }

/// Tells the processor that the caller waits for another one, for a few dozen cycles.
static inline void ec_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

#if defined(__linux__)
/// Sleeps while `*word` is `expected`, until somebody wakes it; may return for no reason.
void ec_futex_wait(const void *_Nonnull word, uint32_t expected);

/// Wakes one thread that sleeps on `word`.
void ec_futex_wake_one(const void *_Nonnull word);
#endif

#endif
