#include "Order.h"

#include <stdbool.h>
#include <unwind.h>

// A loop that only loads atomics runs again and again without an effect, until one of them changes.
// It is found by its state: if all registers and all of the stack are as they were, the loop has no
// counter that would end it.

// Frames of the simulation, above those of the program, which do not change meanwhile.
enum { frames_above = 1024 };
// Deeper stacks are not compared: the thread may also be on a stack of the program's own.
enum { deepest = 1 << 16 };

typedef struct {
    uintptr_t code;
    uint64_t state;
} search;

static void add(search *search, uint64_t value) {
    search->state = (search->state ^ value) * 0x9e3779b97f4a7c15u;
    search->state ^= search->state >> 32;
}

// The registers that a function preserves for its caller, by their numbers for the unwinder.
#if defined(__x86_64__)
static const int registers[] = {3, 6, 12, 13, 14, 15};
#elif defined(__aarch64__)
static const int registers[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
#else
static const int registers[] = {};
#endif

// Adds these of the frame of the call, and the stack from there on. It reads frames of functions
// that are running, parts of which a sanitizer may guard.
__attribute__((no_sanitize("address", "thread")))
static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument) {
    search *search = argument;
    if (_Unwind_GetIP(context) != search->code + 1) return _URC_NO_REASON;
    search->state = 1;
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
        add(search, _Unwind_GetGR(context, registers[i]));
#ifdef __aarch64__
    for (int i = 0; i < 8; i++) add(search, ecs_own.preserved[i]);
#endif
    uintptr_t start = (uintptr_t)_Unwind_GetCFA(context), end = ecs_own.first_frame + frames_above;
    if (end > ecs_own.end_of_stack) end = ecs_own.end_of_stack;
    if (start > end || end - start > deepest) search->state = 0;
    else for (uintptr_t at = start & ~(uintptr_t)7; at + 8 <= end; at += 8) add(search, *(const uint64_t *)at);
    return _URC_END_OF_STACK;
}

uint64_t ecs_order_state(uintptr_t code) {
    search search = {code, 0};
    if (sizeof registers) _Unwind_Backtrace(visit, &search);
    return search.state;
}

bool ecs_order_did_write(void) {
    bool did_write = ecs_own.did_write;
    ecs_own.did_write = false;
    return did_write;
}
