#ifdef __linux__
// For RTLD_NEXT.
#define _GNU_SOURCE
#include "Interposition.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// What a task does to others: it resumes a continuation, cancels tasks, yields to a stream or
// finishes it. Another task may run before it continues: the end of each is a scheduling point.
//
// Compiled code calls these functions through the dynamic linker, as `swift_task_switch`, and they
// are weak for the same reason. What the runtime does by itself passes no point.
#if !__has_feature(thread_sanitizer)

// What a test library and Foundation do for themselves may be under locks of their own.
__attribute__((used)) static void announce(ecs_act act, const void *caller, const void *task) __asm__("ecs_announce_act");
static void announce(ecs_act act, const void *caller, const void *task) {
    if (ecs_current() && ecs_locks_for_program(caller)) ecs_will_act(act, task);
}

__attribute__((used)) static void report_result(ecs_act act, const void *caller, ecs_yield yield) __asm__("ecs_report_act");
static void report_result(ecs_act act, const void *caller, ecs_yield yield) {
    if (ecs_current() && ecs_locks_for_program(caller)) ecs_did_act(act, yield);
}

static void report(ecs_act act, const void *caller) { report_result(act, caller, (ecs_yield){NULL, NULL}); }

typedef SWIFT_CALL void *init_continuation(void *context, size_t flags);
init_continuation swift_continuation_init;

__attribute__((weak)) SWIFT_CALL void *swift_continuation_init(void *context, size_t flags) {
    static void *known;
    void *task = ((init_continuation *)ecs_original(&known, "swift_continuation_init", NULL))(context, flags);
    ecs_did_make_continuation(task);
    return task;
}

typedef SWIFT_CALL void resume(void *task);
resume swift_continuation_resume, swift_continuation_throwingResume;

__attribute__((weak)) SWIFT_CALL void swift_continuation_resume(void *task) {
    static void *known;
    if (!ecs_will_resume(task)) return;
    ((resume *)ecs_original(&known, "swift_continuation_resume", NULL))(task);
    report(ecs_resumes, __builtin_return_address(0));
}

__attribute__((weak)) SWIFT_CALL void swift_continuation_throwingResume(void *task) {
    static void *known;
    if (!ecs_will_resume(task)) return;
    ((resume *)ecs_original(&known, "swift_continuation_throwingResume", NULL))(task);
    report(ecs_resumes, __builtin_return_address(0));
}

typedef SWIFT_CALL void resume_with_error(void *task, void *error);
resume_with_error swift_continuation_throwingResumeWithError;

__attribute__((weak)) SWIFT_CALL void swift_continuation_throwingResumeWithError(void *task, void *error) {
    static void *known;
    if (!ecs_will_resume(task)) return;
    ((resume_with_error *)ecs_original(&known, "swift_continuation_throwingResumeWithError", NULL))(task, error);
    report(ecs_resumes, __builtin_return_address(0));
}

// Functions of Swift's library have arguments in any register, but none on the stack. Their results
// are in up to four registers for addresses and four for numbers. The registers for `self` and for
// an error are preserved by functions of C. The task that is cancelled is the first argument, or in
// the memory of `self`; who calls the function keeps it. A cancellation calls handlers, so it is
// announced as well: before them. The caller of a yield passes the address for the result, and the
// type of the stream's continuation as the last argument.
#if defined(__x86_64__)
#define TASK_IN_ARGUMENT "mov %rdi, %r10\n"
#define TASK_IN_SELF "mov (%r13), %r10\n"
#define NO_TASK "xor %r10d, %r10d\n"
#define NO_RESULT "xor %r11d, %r11d\n"
#define RESULT "mov %rax, %r11\n"
#define NO_TYPE "xor %r10d, %r10d\n"
#define TYPE_IN_FIRST "mov %rdi, %r10\n"
#define TYPE_IN_SECOND "mov %rsi, %r10\n"
#define ANNOUNCE(act) \
    "push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n push %r9\n" \
    "mov $" act ", %edi\n mov 8(%rbp), %rsi\n mov -8(%rbp), %rdx\n call ecs_announce_act\n" \
    "pop %r9\n pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n"
#define CALL_AND_REPORT(original, act, task, result, type, before) \
    "push %rbp\n mov %rsp, %rbp\n" task "push %r10\n" result "push %r11\n" type "push %r10\n push %r10\n" \
    before "call *" original "(%rip)\n" \
    "push %rax\n push %rdx\n push %rcx\n push %r8\n sub $64, %rsp\n" \
    "movups %xmm0, (%rsp)\n movups %xmm1, 16(%rsp)\n movups %xmm2, 32(%rsp)\n movups %xmm3, 48(%rsp)\n" \
    "mov $" act ", %edi\n mov 8(%rbp), %rsi\n mov -16(%rbp), %rdx\n mov -24(%rbp), %rcx\n call ecs_report_act\n" \
    "movups (%rsp), %xmm0\n movups 16(%rsp), %xmm1\n movups 32(%rsp), %xmm2\n movups 48(%rsp), %xmm3\n" \
    "add $64, %rsp\n pop %r8\n pop %rcx\n pop %rdx\n pop %rax\n leave\n ret\n"
#elif defined(__aarch64__)
#define TASK_IN_ARGUMENT "mov x17, x0\n"
#define TASK_IN_SELF "ldr x17, [x20]\n"
#define NO_TASK "mov x17, #0\n"
#define NO_RESULT "mov x16, #0\n"
#define RESULT "mov x16, x8\n"
#define NO_TYPE "mov x17, #0\n"
#define TYPE_IN_FIRST "mov x17, x0\n"
#define TYPE_IN_SECOND "mov x17, x1\n"
#define ANNOUNCE(act) \
    "stp x0, x1, [sp, #-64]!\n stp x2, x3, [sp, #16]\n stp x4, x5, [sp, #32]\n stp x6, x7, [sp, #48]\n" \
    "mov w0, #" act "\n ldr x1, [x29, #8]\n ldr x2, [x29, #-8]\n bl ecs_announce_act\n" \
    "ldp x6, x7, [sp, #48]\n ldp x4, x5, [sp, #32]\n ldp x2, x3, [sp, #16]\n ldp x0, x1, [sp], #64\n"
#define CALL_AND_REPORT(original, act, task, result, type, before) \
    "stp x29, x30, [sp, #-16]!\n mov x29, sp\n" task result "stp x16, x17, [sp, #-16]!\n" \
    type "str x17, [sp, #-16]!\n" before \
    "adrp x16, " original "\n ldr x16, [x16, :lo12:" original "]\n blr x16\n" \
    "stp x0, x1, [sp, #-96]!\n stp x2, x3, [sp, #16]\n stp q0, q1, [sp, #32]\n stp q2, q3, [sp, #64]\n" \
    "mov w0, #" act "\n ldr x1, [x29, #8]\n ldr x2, [x29, #-16]\n ldr x3, [x29, #-32]\n bl ecs_report_act\n" \
    "ldp q2, q3, [sp, #64]\n ldp q0, q1, [sp, #32]\n ldp x2, x3, [sp, #16]\n ldp x0, x1, [sp], #96\n" \
    "mov sp, x29\n ldp x29, x30, [sp], #16\n ret\n"
#endif

#ifdef CALL_AND_REPORT
// The values of `ecs_act`, for the assembler.
#define RESUMES "0"
#define CANCELS "1"
#define CANCELS_GROUP "2"
#define YIELDS "3"
#define FINISHES "4"
_Static_assert(ecs_resumes == 0 && ecs_cancels == 1 && ecs_cancels_group == 2 && ecs_yields == 3 && ecs_finishes == 4,
               "as above");

// What precedes the call of the original.
#define BEFORE_RESUMES ""
#define BEFORE_CANCELS ANNOUNCE(CANCELS)
#define BEFORE_CANCELS_GROUP ANNOUNCE(CANCELS_GROUP)
#define BEFORE_YIELDS ""
#define BEFORE_FINISHES ""

// Where the result will be, of what has one that tells something.
#define RESULT_OF_RESUMES NO_RESULT
#define RESULT_OF_CANCELS NO_RESULT
#define RESULT_OF_CANCELS_GROUP NO_RESULT
#define RESULT_OF_YIELDS RESULT
#define RESULT_OF_FINISHES NO_RESULT

#define EACH_FUNCTION(of) \
    of(checked_resume, "$sScC6resume9returningyxn_tF", RESUMES, NO_TASK, NO_TYPE) \
    of(checked_throw, "$sScC6resume8throwingyq_n_tF", RESUMES, NO_TASK, NO_TYPE) \
    of(task_cancel, "$sScT6cancelyyF", CANCELS, TASK_IN_ARGUMENT, NO_TYPE) \
    of(current_cancel, "$sSct6cancelyyF", CANCELS, TASK_IN_SELF, NO_TYPE) \
    of(group_cancel, "$sScG9cancelAllyyF", CANCELS_GROUP, NO_TASK, NO_TYPE) \
    of(throwing_group_cancel, "$sScg9cancelAllyyF", CANCELS_GROUP, NO_TASK, NO_TYPE) \
    of(discarding_group_cancel, "$ss19DiscardingTaskGroupV9cancelAllyyF", CANCELS_GROUP, NO_TASK, NO_TYPE) \
    of(throwing_discarding_group_cancel, "$ss27ThrowingDiscardingTaskGroupV9cancelAllyyF", CANCELS_GROUP, NO_TASK, NO_TYPE) \
    of(stream_yield, "$sScS12ContinuationV5yieldyAB11YieldResultOyx__GxnF", YIELDS, NO_TASK, TYPE_IN_SECOND) \
    of(stream_yield_with, "$sScS12ContinuationV5yield4withAB11YieldResultOyx__Gs0E0Oyxs5NeverOG_tF", YIELDS, NO_TASK, TYPE_IN_SECOND) \
    of(stream_yield_void, "$sScS12ContinuationV5yieldAB11YieldResultOyyt__GyytRszlF", YIELDS, NO_TASK, NO_TYPE) \
    of(stream_finish, "$sScS12ContinuationV6finishyyF", FINISHES, NO_TASK, NO_TYPE) \
    of(throwing_stream_yield, "$sScs12ContinuationV5yieldyAB11YieldResultOyxq___GxnF", YIELDS, NO_TASK, TYPE_IN_SECOND) \
    of(throwing_stream_yield_with, \
       "$sScs12ContinuationV5yield4withAB11YieldResultOyxs5Error_p__Gs0E0OyxsAG_pG_tsAG_pRs_rlF", YIELDS, NO_TASK, TYPE_IN_SECOND) \
    of(throwing_stream_yield_void, "$sScs12ContinuationV5yieldAB11YieldResultOyytq___GyytRszrlF", YIELDS, NO_TASK, TYPE_IN_FIRST) \
    of(throwing_stream_finish, "$sScs12ContinuationV6finish8throwingyq_Sgn_tF", FINISHES, NO_TASK, NO_TYPE)

#define DEFINE(name, symbol, act, task, type) \
    __attribute__((used)) static void *original_##name __asm__("ecs_original_" #name); \
    __attribute__((weak, naked)) void ecs_act_##name(void) __asm__(symbol); \
    void ecs_act_##name(void) { __asm__(CALL_AND_REPORT("ecs_original_" #name, act, task, RESULT_OF_##act, type, BEFORE_##act)); }
EACH_FUNCTION(DEFINE)

_Noreturn static void is_missing(void) {
    fputs("A function of the concurrency runtime is not in a shared library, so a simulation cannot call it (law 33). "
          "Link the program without --static-swift-stdlib.\n", stderr);
    abort();
}

// Before any function of the program runs.
__attribute__((constructor(101))) static void find_originals(void) {
#define FIND(name, symbol, act, task, type) \
    original_##name = dlsym(RTLD_NEXT, symbol); \
    if (!original_##name) original_##name = (void *)is_missing;
    EACH_FUNCTION(FIND)
}
#endif
#endif

// The type of a result of a yield depends on that of the continuation, whose arguments follow its
// description. The runtime's functions that make it have the type's arguments in their order.
enum { description_at = 1, arguments_at = 2, tag_witness_at = 11 };
typedef struct { const void *type; size_t state; } made_type;
typedef SWIFT_CALL made_type make_type(size_t request, const void *element, const void *failure, const void *witness);
typedef unsigned get_tag(const void *value, const void *type);

static const void *type_of_result(const void *const *continuation) {
    static const char *const descriptions[] = {"$sScS12ContinuationVMn", "$sScs12ContinuationVMn"};
    static const char *const makers[] = {
        "$sScS12ContinuationV11YieldResultOMa", "$sScs12ContinuationV11YieldResultOMa"};
    // A stream of nothing passes no type. That of nothing follows its witnesses.
    const void *const *nothing = dlsym(RTLD_DEFAULT, "$sytN");
    const void *const none[] = {nothing ? nothing + 1 : NULL, NULL, NULL};
    const void *const *arguments = continuation ? continuation + arguments_at : none;
    for (int kind = 0; kind < 2; kind++) {
        if (continuation ? continuation[description_at] != dlsym(RTLD_DEFAULT, descriptions[kind]) : kind > 0) continue;
        make_type *make = (make_type *)dlsym(RTLD_DEFAULT, makers[kind]);
        return make && arguments[0] ? make(0, arguments[0], arguments[1], arguments[2]).type : NULL;
    }
    return NULL;
}

ecs_outcome ecs_outcome_of(ecs_yield yield) {
    const void *const *type = yield.result ? type_of_result(yield.continuation) : NULL;
    if (!type) return ecs_is_unknown;
    // The witnesses precede the type.
    get_tag *tag = ((get_tag *const *)type[-1])[tag_witness_at];
    unsigned result = tag(yield.result, type);
    return result < ecs_is_unknown ? (ecs_outcome)result : ecs_is_unknown;
}
#endif
