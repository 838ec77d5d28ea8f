#ifndef CPLATFORM_H
#define CPLATFORM_H

// What Swift cannot say: variables that each thread has for itself, the processor's hint for waiting loops, a
// fence for the compiler alone, and the calls of the system by which a thread waits on a word. Everything else
// is Swift. `Linux.c` and `Darwin.c` have identical members.

#include <string.h>
#include <stdbool.h>
#include <stdint.h>

// A client that speaks C++ reads this as C++, and looks for the names that C has given.
#if defined(__cplusplus)
extern "C" {
#endif

/// One entry of the list of contexts that the calling thread is running work of, innermost first.
typedef struct ec_frame {
    /// Which context: the address of an object that lives as long as the frame.
    const void *_Nonnull owner;
    /// The frame around this one.
    struct ec_frame *_Nullable parent;
    /// Free for the owner's use while the frame stands.
    intptr_t note;
    /// Which of its owner's jobs runs: zero until a hold asks for the number, and the largest
    /// number where the frame stands for a part of a job.
    uint64_t job;
} ec_frame;

/// What the library knows of one thread; never freed, but used again when the thread has ended.
///
/// One line of memory. The slots, which say what the thread reads, follow in a line of their own.
typedef struct ec_thread {
    /// A small number, unlike zero, that no other living thread has.
    uint32_t identifier;
    /// The word that the thread sleeps on.
    uint32_t parked;
    /// How many slots are in use.
    uint32_t held;
    /// How many thread-local values there is room for; zero asks the thread to look after them first.
    uint32_t local_count;
    /// The thread-local values.
    void *_Nullable locals;
    /// Further slots, where the first do not suffice.
    void *_Nullable more;
    /// The simulator that this thread runs under.
    void *_Nullable simulation;
    /// Its place among the records of living threads, which moves.
    uint64_t place;
    union {
        /// The next of those that no thread uses.
        struct ec_thread *_Nullable next_free;
        /// While a thread uses it: values of its own that it must free, because their thread-local is gone.
        void *_Nullable orphans;
    };
    /// Whether this is the program's first thread.
    bool is_main;
    /// The number by which the thread holds contexts, or zero.
    uint32_t hold;
} ec_thread;

/// For whom a thread runs what another thread waits for; it lives on the stack of the thread that
/// runs it.
typedef struct ec_errand {
    /// The task of the waiting thread, if it runs one.
    const void *_Nullable task;
    /// The task that runs on this thread, if one does.
    const void *_Nullable own_task;
} ec_errand;

// Initial-exec where the linker offers it: a load at a fixed offset from the thread pointer instead of
// a call. These words fit the space that the C library keeps for libraries opened later.
#if defined(__ELF__)
#define EC_THREAD_LOCAL extern __thread __attribute__((tls_model("initial-exec")))
#else
#define EC_THREAD_LOCAL extern __thread
#endif

EC_THREAD_LOCAL ec_frame *_Nullable ec_frame_storage;
EC_THREAD_LOCAL void *_Nullable ec_trampoline_storage;
EC_THREAD_LOCAL uint32_t ec_depth_storage;
EC_THREAD_LOCAL const void *_Nullable ec_tail_storage;
EC_THREAD_LOCAL void *_Nullable ec_errands_storage;
EC_THREAD_LOCAL void *_Nullable ec_freeing_storage;
EC_THREAD_LOCAL ec_thread *_Nullable ec_thread_storage;
EC_THREAD_LOCAL const void *_Nullable ec_lender_storage;
EC_THREAD_LOCAL ec_thread *_Nullable ec_caller_storage;
EC_THREAD_LOCAL const ec_errand *_Nullable ec_errand_storage;

/// The innermost frame of the calling thread.
static inline ec_frame *_Nullable ec_frame_top(void) { return ec_frame_storage; }
static inline void ec_frame_set_top(ec_frame *_Nullable frame) { ec_frame_storage = frame; }

/// The queue of the trampoline that runs on the calling thread.
static inline void *_Nullable ec_trampoline(void) { return ec_trampoline_storage; }
static inline void ec_set_trampoline(void *_Nullable queue) { ec_trampoline_storage = queue; }

/// How deep the calling thread is in telling those who wait for something, and what it has put off.
static inline uint32_t ec_depth(void) { return ec_depth_storage; }
static inline void ec_set_depth(uint32_t depth) { ec_depth_storage = depth; }
/// Whom it is telling now, if that one may leave its own telling to it.
static inline const void *_Nullable ec_tail(void) { return ec_tail_storage; }
static inline void ec_set_tail(const void *_Nullable tail) { ec_tail_storage = tail; }
static inline void *_Nullable ec_errands(void) { return ec_errands_storage; }
static inline void ec_set_errands(void *_Nullable errands) { ec_errands_storage = errands; }

/// What this thread is to free when it has freed what it is freeing; null while it frees nothing.
static inline void *_Nullable ec_freeing(void) { return ec_freeing_storage; }
static inline void ec_set_freeing(void *_Nullable things) { ec_freeing_storage = things; }

/// Whoever has lent the calling thread: the worker of a pool.
static inline const void *_Nullable ec_lender(void) { return ec_lender_storage; }
static inline void ec_set_lender(const void *_Nullable lender) { ec_lender_storage = lender; }

/// Takes a reference to a Swift object and returns it, or null if its last reference is gone and it is being freed.
///
/// The caller sees to it that the memory of the object is still there.
void *_Nullable ec_try_retain(void *_Nonnull object);

/// Two words that one thread writes while another reads them in vain; each is read and written as a whole.
typedef struct ec_words {
    uintptr_t first;
    uintptr_t second;
} ec_words;

static inline ec_words ec_words_load(const ec_words *_Nonnull slot) {
    // Relaxed: what orders them is how the reader claims the slot.
    ec_words words = {__atomic_load_n(&slot->first, __ATOMIC_RELAXED),
                      __atomic_load_n(&slot->second, __ATOMIC_RELAXED)};
    return words;
}

static inline void ec_words_store(ec_words *_Nonnull slot, ec_words words) {
    __atomic_store_n(&slot->first, words.first, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->second, words.second, __ATOMIC_RELAXED);
}

/// Moves a closure out of `piece`, as its two words, and leaves one behind that holds nothing; and back into `piece`.
///
/// Here and not in Swift, whose optimizer would not see that what the words lead to is in somebody's hands: it puts it on the
/// stack, frees it too early, or never.
static inline ec_words ec_words_out_of(void *_Nonnull piece) {
    ec_words words;
    memcpy(&words, piece, sizeof words);
    memset(piece, 0, sizeof words);
    return words;
}

static inline void ec_words_into(void *_Nonnull piece, ec_words words) { memcpy(piece, &words, sizeof words); }

/// The number by which other threads ask about the calling thread, as long as it lives.
int64_t ec_thread_handle(void);

/// What another thread is doing, as far as the system tells.
typedef enum ec_activity {
    ec_activity_unknown,
    /// It runs, or waits for a processor.
    ec_activity_awake,
    /// It waits for the kernel, most often for a page of memory or of a file.
    ec_activity_paging,
    ec_activity_asleep
} ec_activity;

ec_activity ec_thread_activity(int64_t handle);

/// The processor time that a thread has used, in nanoseconds; -1 where it is not known.
int64_t ec_thread_time(int64_t handle);

/// Starts a detached thread that runs `body(argument)`, with all asynchronous signals blocked.
///
/// False if the system refuses another thread.
bool ec_thread_start(void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument);

/// Gives the calling thread a name, cut where the system has no room for it, and a quality of
/// service.
///
/// `quality` is a class of Apple's systems, 0 where it is not given, and ignored elsewhere.
void ec_thread_present(const char *_Nonnull name, uint32_t quality);

/// How many processors the program may run on.
int32_t ec_processor_count(void);

/// The record of the calling thread, or null before its first use.
static inline ec_thread *_Nullable ec_thread_current(void) { return ec_thread_storage; }

/// Restores and returns the record of a thread whose `ec_thread_current` is null although it has one;
/// null if it has none.
///
/// On Apple's systems a thread that ends may lose its thread-local variables before other destructors
/// run on it.
ec_thread *_Nullable ec_thread_recall(void);

/// The record of the thread for which the calling thread acts: its own, or that of the thread whose
/// `sync` it runs.
static inline ec_thread *_Nullable ec_caller(void) { return ec_caller_storage; }
static inline void ec_caller_set(ec_thread *_Nullable caller) { ec_caller_storage = caller; }
static inline const ec_errand *_Nullable ec_errand_current(void) { return ec_errand_storage; }
static inline void ec_errand_set(const ec_errand *_Nullable errand) { ec_errand_storage = errand; }

/// Makes `thread` the record of the calling thread until this ends, and then calls `ended` on it.
void ec_thread_attach(ec_thread *_Nonnull thread, void (*_Nonnull ended)(ec_thread *_Nonnull));

/// Keeps a task's object, so that its address is no other task's, and lets it go.
void ec_task_retain(void *_Nonnull task);
void ec_task_release(void *_Nonnull task);

/// Writes a line to the standard error.
void ec_complain(const char *_Nonnull line);


/// Gives the calling thread another record, or none; for `ended`, and for simulated threads.
static inline void ec_thread_set(ec_thread *_Nullable thread) { ec_thread_storage = thread; }

// The words of a record that threads change atomically, which Swift does with its own types.
static inline void *_Nonnull ec_thread_parked(ec_thread *_Nonnull thread) { return &thread->parked; }
static inline void *_Nonnull ec_thread_more(ec_thread *_Nonnull thread) { return &thread->more; }
static inline void *_Nonnull ec_thread_local_count(ec_thread *_Nonnull thread) { return &thread->local_count; }
static inline void *_Nonnull ec_thread_orphans(ec_thread *_Nonnull thread) { return &thread->orphans; }

// What other threads read of a record, and what does not change while they can. In Swift each would count as an access
// to all of the record, beside those of the thread that it belongs to.
static inline uint32_t ec_thread_identifier(const ec_thread *_Nonnull thread) { return thread->identifier; }

/// Whether the calling thread is the program's first.
bool ec_is_main_thread(void);

/// Whether the calling thread is one of the few that run Swift tasks, and so must not be blocked.
bool ec_is_cooperative(void);

/// Tells the processor that the caller waits for another one, for a few dozen cycles.
static inline void ec_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

/// Keeps the compiler, and not the processor, from moving reads and writes past this point.
static inline void ec_compiler_fence(void) { __asm__ volatile("" ::: "memory"); }

/// How the short ways work in this process: see `ec_mode`.
enum {
    /// No thread can make the others pass a barrier, so each passes its own.
    EC_MODE_PORTABLE = 1,
    /// A simulator is at work somewhere in the process.
    EC_MODE_SIMULATED = 2,
    /// The process was forked from one that had begun to use the library, and has none of its
    /// other threads.
    EC_MODE_FORKED = 4,
};
extern uint32_t ec_mode_storage;

/// Zero where the short ways are to be as short as they can be; else a sum of the modes above.
///
/// Portable from the start until `ec_prepare` has found better; every user of a short way has a thread record, or
/// prepares when it finds the mode unlike zero, so all agree.
static inline uint32_t ec_mode(void) { return __atomic_load_n(&ec_mode_storage, __ATOMIC_RELAXED); }
void ec_mode_set(uint32_t mode, bool is_on);

/// Finds out how the short ways work here, once; from then on a forked child is known.
void ec_prepare(void);

/// Traps if the calling thread is about to wait in a forked child, where no other thread would wake
/// it.
void ec_refuse_wait_in_fork(void);

/// Asks the system for `ec_barrier`; leaves the mode portable where there is none.
void ec_barrier_prepare(void);

/// Returns when every running thread of the process has passed a full memory barrier since the call began.
///
/// It is what lets the other side of a handshake do without one. In portable mode it does nothing: that side
/// passes its own. The system may refuse the call later on, as in a sandbox that a program enters
/// after it has started: then the caller visits every processor instead. If that is refused as well,
/// the program traps.
void ec_barrier(void);

/// The deadline that never comes.
#define EC_NEVER INT64_MAX

/// Sleeps while `*word` is `expected`, until somebody wakes it or the monotonic clock shows `deadline`, in
/// nanoseconds; may return for no reason.
void ec_wait(const void *_Nonnull word, uint32_t expected, int64_t deadline);

/// Wakes one thread that sleeps on `word`.
void ec_wake_one(const void *_Nonnull word);

// For the simulator, whose threads run one at a time. That they do must not hide from the thread sanitizer that nothing
// else orders them: it sees neither how the turn is passed nor, between the latter two, what the simulator itself does.

/// Gives the turn to the thread that waits on `word`, or will.
void ec_turn_pass(uint32_t *_Nonnull word);
/// Waits until the turn is passed to `word`, and takes it.
void ec_turn_wait(uint32_t *_Nonnull word);
void ec_unseen_begin(void);
void ec_unseen_end(void);
/// Has the sanitizer look again, until the latter is called with the result.
uint32_t ec_unseen_suspend(void);
void ec_unseen_resume(uint32_t depth);
/// Keeps the calling thread to one of the processors that it may run on, the same for the same number; where the system
/// does not let a program choose it does nothing.
void ec_pin(uint32_t number);

#if defined(__cplusplus)
}
#endif

#endif
