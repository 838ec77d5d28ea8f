#include "CPlatform.h"

#include <pthread.h>
#include <string.h>

_Thread_local ec_frame *ec_frame_storage = 0;
_Thread_local void *ec_trampoline_storage = 0;
_Thread_local uint32_t ec_depth_storage = 0;
_Thread_local const void *ec_tail_storage = 0;
_Thread_local void *ec_errands_storage = 0;
_Thread_local ec_thread *ec_thread_storage = 0;
_Thread_local const void *ec_lender_storage = 0;

uint32_t ec_mode_storage = EC_MODE_PORTABLE;

void ec_mode_set(uint32_t mode, bool is_on) {
    if (is_on) {
        __atomic_fetch_or(&ec_mode_storage, mode, __ATOMIC_SEQ_CST);
    } else {
        __atomic_fetch_and(&ec_mode_storage, ~mode, __ATOMIC_SEQ_CST);
    }
}

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void (*thread_ended)(ec_thread *);

static void ended(void *thread) { __atomic_load_n(&thread_ended, __ATOMIC_ACQUIRE)((ec_thread *)thread); }

static void prepare(void) {
    pthread_key_create(&key, ended);
    ec_barrier_prepare();
}

void ec_prepare(void) { pthread_once(&once, prepare); }

void ec_thread_attach(ec_thread *thread, void (*callback)(ec_thread *)) {
    // The same function every time; the threads' order does not matter.
    __atomic_store_n(&thread_ended, callback, __ATOMIC_RELEASE);
    ec_prepare();
    thread->is_main = ec_is_main_thread();
    pthread_setspecific(key, thread);
    ec_thread_storage = thread;
}

// Of the dispatch library, whose header is not at hand on every system: null asks for the calling thread's queue.
extern const char *dispatch_queue_get_label(void *queue);

bool ec_is_cooperative(void) {
    const char *label = dispatch_queue_get_label((void *)0);
    if (label == (void *)0) return false;
    // The first is what the runtime calls its own queue, the second how the system's cooperative queues end.
    if (strcmp(label, "Swift global concurrent queue") == 0) return true;
    static const char ending[] = ".cooperative";
    size_t length = strlen(label), rest = sizeof ending - 1;
    return length >= rest && strcmp(label + length - rest, ending) == 0;
}

#if defined(__has_attribute) && __has_attribute(disable_sanitizer_instrumentation)
#define EC_UNSEEN __attribute__((disable_sanitizer_instrumentation))
#else
#define EC_UNSEEN
#endif

EC_UNSEEN void ec_turn_pass(uint32_t *word) {
    __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
    ec_wake_one(word);
}

EC_UNSEEN void ec_turn_wait(uint32_t *word) {
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == 0) ec_wait(word, 0, EC_NEVER);
    __atomic_store_n(word, 0, __ATOMIC_SEQ_CST);
}

// The sanitizer's own functions for code that it is not to look at, where it is at work.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EC_SANITIZED 1
#endif
#endif

#if defined(EC_SANITIZED)
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);

static _Thread_local uint32_t unseen;

static void begin(void) {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
}

static void end(void) {
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

void ec_unseen_begin(void) {
    if (unseen++ == 0) begin();
}

void ec_unseen_end(void) {
    if (--unseen == 0) end();
}

uint32_t ec_unseen_suspend(void) {
    uint32_t depth = unseen;
    if (depth > 0) end();
    unseen = 0;
    return depth;
}

void ec_unseen_resume(uint32_t depth) {
    unseen = depth;
    if (depth > 0) begin();
}
#else
void ec_unseen_begin(void) {}
void ec_unseen_end(void) {}
uint32_t ec_unseen_suspend(void) { return 0; }
void ec_unseen_resume(uint32_t depth) { (void)depth; }
#endif
