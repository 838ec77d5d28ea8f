#ifndef CPLATFORM_H
#define CPLATFORM_H

// What Swift cannot express: thread-local variables, the processor's hint for spinning, a
// compiler-only fence, and the system calls by which a thread waits on a word. Everything else is
// Swift. `Linux.c` and `Darwin.c` define the same functions.

#include <string.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A C++ client needs C linkage for these names.
#if defined(__cplusplus)
extern "C" {
#endif

/// One entry of the list of what the calling thread is inside of, innermost first.
typedef struct ec_frame {
    /// What it is inside of: the address of an object that outlives the frame.
    const void *_Nonnull owner;
    /// The enclosing frame.
    struct ec_frame *_Nullable parent;
    /// For the owner's use while the frame exists.
    intptr_t note;
    /// The number of the owner's job that runs. Zero until an exclusive owner asks for the number;
    /// the largest number if the frame is a part of a job.
    uint64_t job;
} ec_frame;

/// The library's record of one thread. Never freed; reused after the thread has ended.
///
/// The record fits in one cache line. Its slots follow in a cache line of their own.
typedef struct ec_thread {
    /// A small nonzero number that no other living thread has.
    uint32_t identifier;
    /// The word that the thread parks on.
    uint32_t parked;
    /// The number of pushed slots; the first slot is not among them.
    uint32_t pushed_slots;
    /// The capacity of the table of thread-local values. Zero makes the thread free its detached
    /// values first.
    uint32_t local_count;
    /// The table of thread-local values.
    void *_Nullable locals;
    /// Further blocks of slots.
    void *_Nullable slot_blocks;
    /// The simulation that the thread runs under.
    void *_Nullable simulation;
    /// The index among the records of living threads; it changes when another thread ends.
    uint64_t index;
    union {
        /// While no thread uses the record: the next unused record.
        struct ec_thread *_Nullable next_free;
        /// While a thread uses the record: values that the thread must free, because their
        /// thread-local is gone.
        void *_Nullable detached;
    };
    /// Whether this is the program's first thread, and has not ended.
    bool is_main;
    /// Whether this is the program's first thread at its end: Dispatch still takes it for main.
    bool was_main;
    /// The number by which the thread is an exclusive owner, or zero.
    uint32_t owner_number;
} ec_thread;

/// The task for which a thread runs a closure that another thread waits for.
///
/// It lives on the stack of the thread that runs the closure.
typedef struct ec_caller_task {
    /// The task of the waiting thread, or null.
    const void *_Nullable task;
    /// The task of the thread that runs the closure, or null.
    const void *_Nullable own_task;
} ec_caller_task;

// Initial-exec where the linker supports it: a load at a fixed offset from the thread pointer
// instead of a call. These words fit into the space that the C library reserves for libraries
// opened later.
#if defined(__ELF__)
#define EC_THREAD_LOCAL extern __thread __attribute__((tls_model("initial-exec")))
#else
#define EC_THREAD_LOCAL extern __thread
#endif

EC_THREAD_LOCAL ec_frame *_Nullable ec_frame_storage;
EC_THREAD_LOCAL void *_Nullable ec_job_queue_storage;
EC_THREAD_LOCAL uint32_t ec_call_depth_storage;
EC_THREAD_LOCAL const void *_Nullable ec_tail_callee_storage;
EC_THREAD_LOCAL void *_Nullable ec_deferred_calls_storage;
EC_THREAD_LOCAL void *_Nullable ec_freeing_storage;
EC_THREAD_LOCAL ec_thread *_Nullable ec_thread_storage;
EC_THREAD_LOCAL const void *_Nullable ec_blocking_scope_storage;
EC_THREAD_LOCAL ec_thread *_Nullable ec_caller_storage;
EC_THREAD_LOCAL const ec_caller_task *_Nullable ec_caller_task_storage;
EC_THREAD_LOCAL const void *_Nullable ec_sync_source_storage;

/// The innermost frame of the calling thread.
static inline ec_frame *_Nullable ec_frame_top(void) { return ec_frame_storage; }
static inline void ec_frame_set_top(ec_frame *_Nullable frame) { ec_frame_storage = frame; }

/// The queue of jobs that the calling thread runs one after the other, or null.
static inline void *_Nullable ec_job_queue(void) { return ec_job_queue_storage; }
static inline void ec_set_job_queue(void *_Nullable queue) { ec_job_queue_storage = queue; }

/// The number of counted calls that are nested on the calling thread.
static inline uint32_t ec_call_depth(void) { return ec_call_depth_storage; }
static inline void ec_set_call_depth(uint32_t depth) { ec_call_depth_storage = depth; }
/// The object that the calling thread calls, if that object may leave its own calls to the caller's
/// loop.
///
/// The object clears the word to do so.
static inline const void *_Nullable ec_tail_callee(void) { return ec_tail_callee_storage; }
static inline void ec_set_tail_callee(const void *_Nullable callee) { ec_tail_callee_storage = callee; }
/// The calls that the calling thread has deferred.
static inline void *_Nullable ec_deferred_calls(void) { return ec_deferred_calls_storage; }
static inline void ec_set_deferred_calls(void *_Nullable calls) { ec_deferred_calls_storage = calls; }

/// The frees that the calling thread has deferred; null while the thread frees nothing.
static inline void *_Nullable ec_freeing(void) { return ec_freeing_storage; }
static inline void ec_set_freeing(void *_Nullable state) { ec_freeing_storage = state; }

/// Where the body comes from for which the calling thread is about to call `sync`.
static inline const void *_Nullable ec_sync_source(void) { return ec_sync_source_storage; }
static inline void ec_set_sync_source(const void *_Nullable source) { ec_sync_source_storage = source; }

/// The blocking scope that the calling thread runs in.
static inline const void *_Nullable ec_blocking_scope(void) { return ec_blocking_scope_storage; }
static inline void ec_set_blocking_scope(const void *_Nullable scope) { ec_blocking_scope_storage = scope; }

/// Retains a Swift object and returns it; null if its last reference is gone.
///
/// The caller guarantees that the object's memory is still allocated.
void *_Nullable ec_try_retain(void *_Nonnull object);

/// The address of the current task; null outside of tasks.
const void *_Nullable ec_task_current(void);

/// Whether a task, which the caller keeps from ending, is cancelled; false for null.
bool ec_task_is_cancelled(const void *_Nullable task);

/// The raw value of the priority of the current task; 0 outside of tasks.
uint8_t ec_task_priority(void);

/// Two words that one thread may write while another reads them and discards the result.
///
/// Each word is read and written as a whole.
typedef struct ec_words {
    uintptr_t first;
    uintptr_t second;
} ec_words;

static inline ec_words ec_words_load(const ec_words *_Nonnull slot) {
    // Relaxed: the operation by which the reader takes the slot orders the words.
    ec_words words = {__atomic_load_n(&slot->first, __ATOMIC_RELAXED),
                      __atomic_load_n(&slot->second, __ATOMIC_RELAXED)};
    return words;
}

static inline void ec_words_store(ec_words *_Nonnull slot, ec_words words) {
    __atomic_store_n(&slot->first, words.first, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->second, words.second, __ATOMIC_RELAXED);
}

/// Moves a closure out of `closure` as its two words, and leaves zeros; `ec_words_into` moves it
/// back.
///
/// In C, because Swift's optimizer does not see that the words own the closure's context. It would
/// put the context on the stack, free it too early, or never.
static inline ec_words ec_words_out_of(void *_Nonnull closure) {
    ec_words words;
    memcpy(&words, closure, sizeof words);
    memset(closure, 0, sizeof words);
    return words;
}

static inline void ec_words_into(void *_Nonnull closure, ec_words words) { memcpy(closure, &words, sizeof words); }

/// The number by which other threads query the calling thread, as long as it lives.
int64_t ec_thread_handle(void);

/// What another thread is doing, as far as the system reports it.
typedef enum ec_activity {
    ec_activity_unknown,
    /// Runs, or waits for a processor.
    ec_activity_awake,
    /// Waits for the kernel, most often for a page of memory or of a file.
    ec_activity_paging,
    ec_activity_asleep
} ec_activity;

ec_activity ec_thread_activity(int64_t handle);

/// The processor time that a thread has used, in nanoseconds; -1 if it is unknown.
int64_t ec_thread_time(int64_t handle);

/// Starts a detached thread that runs `body(argument)`, with all asynchronous signals blocked.
///
/// Returns false if the system refuses another thread.
bool ec_thread_start(void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument);

/// Sets the calling thread's name and quality of service.
///
/// The system truncates a name that is too long. `quality` is a class of Apple's systems, 0 for the
/// default, and ignored elsewhere.
void ec_thread_configure(const char *_Nonnull name, uint32_t quality);

/// Whether Dispatch can begin to run jobs of global queues, and timers with `timers`.
///
/// It opens descriptors for that once, and ends the process without a message where none is left.
/// Also true where that cannot be told, and where it needs none.
bool ec_dispatch_can_begin(bool timers);

/// The number of processors that the program may run on.
int32_t ec_processor_count(void);

/// The record of the calling thread, or null before its first use.
static inline ec_thread *_Nullable ec_thread_current(void) { return ec_thread_storage; }

/// Restores and returns the record of a thread whose `ec_thread_current` is null although it has
/// one.
///
/// Returns null if the thread has no record. On Apple's systems the thread-local variables of an
/// ending thread may be destroyed before other destructors run on it.
ec_thread *_Nullable ec_thread_recall(void);

/// The record of the thread for which the calling thread acts: its own, or that of the thread whose
/// `sync` it runs.
static inline ec_thread *_Nullable ec_caller(void) { return ec_caller_storage; }
static inline void ec_caller_set(ec_thread *_Nullable caller) { ec_caller_storage = caller; }
static inline const ec_caller_task *_Nullable ec_caller_task_current(void) { return ec_caller_task_storage; }
static inline void ec_caller_task_set(const ec_caller_task *_Nullable task) { ec_caller_task_storage = task; }

/// Makes `thread` the record of the calling thread until the thread ends, and then calls `ended` on
/// it.
void ec_thread_attach(ec_thread *_Nonnull thread, void (*_Nonnull ended)(ec_thread *_Nonnull));

/// Notes that the first thread frees its values at its end: from then on it has no part in main.
void ec_main_thread_ended(void);

/// Retains an object of Swift, and releases it. The compiler does not remove these calls.
void ec_retain(void *_Nonnull object);
void ec_release(void *_Nonnull object);

/// Writes `text` and a newline to the standard error.
void ec_print_error(const char *_Nonnull text);

/// Gives the calling thread another record, or none; for `ended` and for simulated threads.
static inline void ec_thread_set(ec_thread *_Nullable thread) { ec_thread_storage = thread; }

// The words of a record that threads change atomically. Swift accesses them through its own atomic
// types.
static inline void *_Nonnull ec_thread_parked(ec_thread *_Nonnull thread) { return &thread->parked; }
static inline void *_Nonnull ec_thread_slot_blocks(ec_thread *_Nonnull thread) { return &thread->slot_blocks; }
static inline void *_Nonnull ec_thread_local_count(ec_thread *_Nonnull thread) { return &thread->local_count; }
static inline void *_Nonnull ec_thread_detached(ec_thread *_Nonnull thread) { return &thread->detached; }

// What other threads read of a record, and what does not change while they can. In Swift, each read
// would count as an access to the whole record, and overlap with the accesses of the record's own
// thread.
static inline uint32_t ec_thread_identifier(const ec_thread *_Nonnull thread) { return thread->identifier; }

/// The address of the code of a closure. Swift calls it with the closure itself: the two words of
/// it come as the first two arguments.
__attribute__((swiftcall)) uintptr_t ec_code_of(const void *_Nullable code, const void *_Nullable captures);

/// Writes a text to standard error in one piece, or loses it if there is no standard error.
void ec_write_error(const void *_Nullable text, size_t length);

/// Whether the calling thread is the program's first.
bool ec_is_main_thread(void);

/// Hints to the processor that the caller spins, for a few dozen cycles.
static inline void ec_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

/// What only the code of a closure that is known by its address refers to.
extern const char ec_known_code;

/// Makes the code that calls it differ from all code outside this library: one instruction, which
/// puts an address into a register.
///
/// A linker may fold functions whose code and references are equal.
static inline void ec_mark_known_code(void) { __asm__ volatile("" : : "r"(&ec_known_code)); }

/// Keeps the compiler, but not the processor, from moving reads and writes past this point.
static inline void ec_compiler_fence(void) { __asm__ volatile("" ::: "memory"); }

/// What keeps the fast paths from being used in this process: see `ec_mode`.
enum {
    /// No thread can make the others pass a barrier, so each thread passes its own.
    EC_MODE_PORTABLE = 1,
    /// A simulation runs somewhere in the process.
    EC_MODE_SIMULATED = 2,
    /// The process was forked from one that had begun to use the library, and has none of its other
    /// threads.
    EC_MODE_FORKED = 4,
};
extern uint32_t ec_mode_storage;

/// Zero if every fast path is as short as it can be; otherwise a sum of the modes above.
///
/// The mode is portable until `ec_prepare` has found a barrier. Every user of a fast path has a
/// thread record, or prepares when it finds a mode other than zero, so all threads agree.
static inline uint32_t ec_mode(void) { return __atomic_load_n(&ec_mode_storage, __ATOMIC_RELAXED); }
void ec_mode_set(uint32_t mode, bool is_on);

/// Determines the mode, once; from then on a fork sets `EC_MODE_FORKED` in the child.
void ec_prepare(void);

/// Traps if the calling thread is about to wait in a forked child, where no other thread would wake
/// it.
void ec_refuse_wait_in_fork(void);

/// Asks the system for `ec_barrier`; leaves the mode portable if there is none.
void ec_barrier_prepare(void);

/// Returns when every running thread of the process has passed a full memory barrier since the call
/// began.
///
/// It lets the other side of a handshake do without a barrier. In portable mode it does nothing,
/// and that side passes a barrier of its own. The system may refuse the call later, as in a sandbox
/// that a program enters after its start. The caller then visits every processor instead. If the
/// system refuses that as well, the process traps.
void ec_barrier(void);

/// The deadline that never passes.
#define EC_NEVER INT64_MAX

/// Sleeps while `*word` is `expected`, until a wake-up or until the monotonic clock shows
/// `deadline`, in nanoseconds.
///
/// May return spuriously.
void ec_wait(const void *_Nonnull word, uint32_t expected, int64_t deadline);

#if defined(__linux__)
/// The monotonic clock of the system in nanoseconds, also on a thread of a simulation.
int64_t ec_now(void);

/// Replaces what `ec_now` reads, for a simulation that shows its threads another clock.
void ec_set_clock(int64_t (*_Nonnull clock)(void));
#endif

/// Wakes one thread that sleeps on `word`.
void ec_wake_one(const void *_Nonnull word);

/// Calls `check`. Where an instruction traps in it, because a check of the system has failed,
/// `stop` is called, which must not return.
void ec_replace_trap(void (*_Nonnull check)(void *_Nonnull), void (*_Nonnull stop)(void *_Nonnull),
                     void *_Nonnull context);

#if defined(__cplusplus)
}
#endif

#endif
