#include "Interposition.h"

#include <CAccesses.h>

// The sanitizer's own functions that exclude code from its analysis, where it is enabled.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(SANITIZED)
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);

static void begin_ignoring(void) {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
}

static void end_ignoring(void) {
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}
#else
static void begin_ignoring(void) {}
static void end_ignoring(void) {}
#endif

static ECS_THREAD_LOCAL uint32_t ignore_depth;

static void begin(void) {
    begin_ignoring();
    ecs_accesses_pause();
}

static void end(void) {
    ecs_accesses_resume();
    end_ignoring();
}

void ecs_ignore_begin(void) {
    if (ignore_depth++ == 0) begin();
}

void ecs_ignore_end(void) {
    if (--ignore_depth == 0) end();
}

uint32_t ecs_ignore_suspend(void) {
    uint32_t depth = ignore_depth;
    if (depth > 0) end();
    ignore_depth = 0;
    return depth;
}

void ecs_ignore_resume(uint32_t depth) {
    ignore_depth = depth;
    if (depth > 0) begin();
}

bool ecs_ignores(void) { return ignore_depth > 0; }
