#include "Interposition.h"

#include <CPlatform.h>

#include <stdlib.h>
#if ECS_EXCHANGES
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// The scheduler token of a thread. One system thread can run what several others were to run, one
// after another: it exchanges the stack, the registers and the thread pointer, without the kernel.
// So each thread keeps its identity: its thread-local variables, its `errno`, its number.
//
// The states of a token, and who changes them:
//
// | state   | its thread                   | becomes | by                             |
// |---------|------------------------------|---------|--------------------------------|
// | running | runs, or is about to wait    | passed  | a pass before it waits         |
// |         |                              | parked  | what runs next in its place    |
// | passed  | need not wait                | running | its own wait                   |
// |         |                              | called  | what runs next in its place    |
// | parked  | is saved; any continues it   | running | a change to it                 |
// |         |                              | called  | a pass                         |
// | called  | is to be continued by its    | running | its own system thread          |
// |         | own system thread            |         |                                |
//
// A token that is not adopted is only running and passed, and its thread waits in the kernel.
enum { running, passed, parked, called };

struct ecs_token {
    uint32_t state;
    // Where the thread continues, with this thread pointer.
    void *stack;
    uintptr_t pointer;
    // Where its own system thread rests while others run it.
    void *resting;
    // The memory of that stack.
    void *memory;
    // Whose system thread runs it; NULL if the token is not adopted.
    ecs_token *carrier;
    // Whether only its own system thread may run it, and that one only it.
    bool stays;
    // The signals that its system thread blocks when it does not rest.
    uint64_t mask;
};

ecs_token *ecs_token_new(void) { return calloc(1, sizeof(ecs_token)); }

void ecs_token_free(ecs_token *token) { free(token); }

// Sequentially consistent, here and below: a token passes few times beside what a schedule does.
NO_SANITIZER static bool replace(ecs_token *token, uint32_t state, uint32_t by) {
    return __atomic_compare_exchange_n(&token->state, &state, by, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

NO_SANITIZER void ecs_token_pass(ecs_token *token) {
    if (replace(token, running, passed)) return ec_wake_one(&token->state);
    // Otherwise it was passed before.
    if (replace(token, parked, called)) ec_wake_one(&token->state);
}

NO_SANITIZER static void wait_in_kernel(ecs_token *token) {
    while (!replace(token, passed, running)) ec_wait(&token->state, running, EC_NEVER);
}

#if ECS_EXCHANGES
// Saves the caller, continues what was saved on `stack` with its thread pointer, and passes it
// `argument`. Returns when the caller is continued, with the argument of the one that did that.
void *ecs_exchange(void **saved, void *stack, uintptr_t pointer, void *argument);
void ecs_begin(void);

#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".hidden ecs_exchange\n"
    ".globl ecs_exchange\n"
    ".type ecs_exchange, @function\n"
    "ecs_exchange:\n"
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  subq $8, %rsp\n"
    "  stmxcsr (%rsp)\n"
    "  fnstcw 4(%rsp)\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  wrfsbase %rdx\n"
    "  ldmxcsr (%rsp)\n"
    "  fldcw 4(%rsp)\n"
    "  addq $8, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  movq %rcx, %rax\n"
    "  ret\n"
    ".size ecs_exchange, . - ecs_exchange\n"
    // The beginning of a stack that was never saved: its first function is in a saved register.
    ".hidden ecs_begin\n"
    ".globl ecs_begin\n"
    ".type ecs_begin, @function\n"
    "ecs_begin:\n"
    "  movq %rax, %rdi\n"
    "  call *%rbx\n"
    "  ud2\n"
    ".size ecs_begin, . - ecs_begin\n");

enum { saved_words = 8, at_floating = 0, at_function = 5, at_return = 7 };
static uintptr_t thread_pointer(void) {
    uintptr_t pointer;
    __asm__("rdfsbase %0" : "=r"(pointer));
    return pointer;
}
static uint64_t floating_modes(void) {
    uint32_t vectors;
    uint16_t others;
    __asm__("stmxcsr %0" : "=m"(vectors));
    __asm__("fnstcw %0" : "=m"(others));
    return vectors | (uint64_t)others << 32;
}
NO_SANITIZER static long in_kernel(long number, const void *a, long b, long c, long d) {
    long result = number;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
    return result;
}
#else
__asm__(
    ".text\n"
    ".hidden ecs_exchange\n"
    ".globl ecs_exchange\n"
    ".type ecs_exchange, %function\n"
    "ecs_exchange:\n"
    "  sub sp, sp, #176\n"
    "  mrs x9, fpcr\n"
    "  mrs x10, fpsr\n"
    "  stp x9, x10, [sp, #0]\n"
    "  stp x19, x20, [sp, #16]\n"
    "  stp x21, x22, [sp, #32]\n"
    "  stp x23, x24, [sp, #48]\n"
    "  stp x25, x26, [sp, #64]\n"
    "  stp x27, x28, [sp, #80]\n"
    "  stp x29, x30, [sp, #96]\n"
    "  stp d8, d9, [sp, #112]\n"
    "  stp d10, d11, [sp, #128]\n"
    "  stp d12, d13, [sp, #144]\n"
    "  stp d14, d15, [sp, #160]\n"
    "  mov x9, sp\n"
    "  str x9, [x0]\n"
    "  mov sp, x1\n"
    "  msr tpidr_el0, x2\n"
    "  ldp x9, x10, [sp, #0]\n"
    "  msr fpcr, x9\n"
    "  msr fpsr, x10\n"
    "  ldp x19, x20, [sp, #16]\n"
    "  ldp x21, x22, [sp, #32]\n"
    "  ldp x23, x24, [sp, #48]\n"
    "  ldp x25, x26, [sp, #64]\n"
    "  ldp x27, x28, [sp, #80]\n"
    "  ldp x29, x30, [sp, #96]\n"
    "  ldp d8, d9, [sp, #112]\n"
    "  ldp d10, d11, [sp, #128]\n"
    "  ldp d12, d13, [sp, #144]\n"
    "  ldp d14, d15, [sp, #160]\n"
    "  add sp, sp, #176\n"
    "  mov x0, x3\n"
    "  ret\n"
    ".size ecs_exchange, . - ecs_exchange\n"
    ".hidden ecs_begin\n"
    ".globl ecs_begin\n"
    ".type ecs_begin, %function\n"
    "ecs_begin:\n"
    "  blr x19\n"
    "  brk #1\n"
    ".size ecs_begin, . - ecs_begin\n");

enum { saved_words = 22, at_floating = 0, at_function = 2, at_return = 13 };
static uintptr_t thread_pointer(void) {
    uintptr_t pointer;
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
    return pointer;
}
static uint64_t floating_modes(void) {
    uint64_t modes;
    __asm__("mrs %0, fpcr" : "=r"(modes));
    return modes;
}
NO_SANITIZER static long in_kernel(long number, const void *a, long b, long c, long d) {
    register long at __asm__("x8") = number, first __asm__("x0") = (long)a, second __asm__("x1") = b,
                  third __asm__("x2") = c, fourth __asm__("x3") = d;
    __asm__ volatile("svc #0" : "+r"(first) : "r"(at), "r"(second), "r"(third), "r"(fourth) : "memory");
    return first;
}
#endif

// The token that the calling thread has adopted, and its number in the system, which the kernel
// knows of the thread that carries it.
static ECS_THREAD_LOCAL ecs_token *adopted;
static ECS_THREAD_LOCAL long number;

NO_SANITIZER long ecs_own_number(void) { return number; }

NO_SANITIZER static void call(ecs_token *token) {
    __atomic_store_n(&token->state, called, __ATOMIC_SEQ_CST);
    ec_wake_one(&token->state);
}

// What ran here before is saved now.
NO_SANITIZER static void settle(ecs_token *last) {
    // It was passed before it was saved: its own system thread continues it.
    if (!replace(last, running, parked)) call(last);
}

NO_SANITIZER static void set_mask(const uint64_t *mask, uint64_t *old) {
    in_kernel(SYS_rt_sigprocmask, (void *)SIG_SETMASK, (long)mask, (long)old, sizeof *mask);
}

uint64_t ecs_signal_mask(void) {
    uint64_t mask = 0;
    set_mask(NULL, &mask);
    return mask;
}

// The system thread of a token rests here, on a stack of its own, until it is to continue its own
// thread. That one may run elsewhere meanwhile, with the same thread-locals: so no function of the
// C library is called, which may set `errno`, and no handler of a signal may run. The library's own
// signals are for all threads, and are let through.
NO_SANITIZER static void rest(ecs_token *last) {
#ifdef __GLIBC__
    static const uint64_t signals = ~(3ull << 31);
#else
    static const uint64_t signals = ~(7ull << 31);
#endif
    ecs_token *own = adopted;
    for (;;) {
        set_mask(&signals, &own->mask);
        settle(last);
        for (uint32_t state; (state = __atomic_load_n(&own->state, __ATOMIC_SEQ_CST)) != called;)
            in_kernel(SYS_futex, &own->state, FUTEX_WAIT_PRIVATE, state, 0);
        own->carrier = own;
        __atomic_store_n(&own->state, running, __ATOMIC_SEQ_CST);
        last = ecs_exchange(&own->resting, own->stack, own->pointer, NULL);
    }
}

// Saves the calling thread and continues what is at `stack`; returns when the thread is continued:
// in place of another one, or by its own system thread, which has rested.
NO_SANITIZER static void leave_for(ecs_token *token, void *stack, uintptr_t pointer) {
    ecs_token *last = ecs_exchange(&token->stack, stack, pointer, token);
    if (last) settle(last);
    else set_mask(&token->mask, NULL);
}

NO_SANITIZER static void leave_for_rest(ecs_token *token) {
    ecs_token *carrier = token->carrier;
    leave_for(token, carrier->resting, carrier->pointer);
}

void ecs_token_adopt(ecs_token *token, uint64_t mask) {
    // Only `rest` runs on it, and the C library's own handlers.
    enum { size = 1 << 16 };
    if (!ecs_may_exchange() || !(token->memory = malloc(size))) return;
    set_mask(&mask, NULL);
    number = syscall(SYS_gettid);
    token->pointer = thread_pointer();
    // Aligned to sixteen bytes where `ecs_begin` begins.
    uintptr_t end = ((uintptr_t)token->memory + size) & ~(uintptr_t)15;
    uint64_t *words = (uint64_t *)end - saved_words;
    for (int i = 0; i < saved_words; i++) words[i] = 0;
    words[at_floating] = floating_modes();
    words[at_function] = (uintptr_t)rest;
    words[at_return] = (uintptr_t)ecs_begin;
    token->resting = words;
    token->carrier = token;
    adopted = token;
}

NO_SANITIZER void ecs_go_home(void) {
    ecs_token *token = adopted;
    if (!token || token->carrier == token) return;
    // Its own system thread continues here. Nothing else passes the token of a thread that runs.
    __atomic_store_n(&token->state, passed, __ATOMIC_SEQ_CST);
    leave_for_rest(token);
}

void ecs_stay_home(void) {
    if (!adopted) return;
    ecs_go_home();
    adopted->stays = true;
}

void ecs_token_leave(ecs_token *token) {
    if (!token->carrier) return;
    ecs_go_home();
    adopted = NULL;
    token->carrier = NULL;
    free(token->memory);
}

void ecs_forget_token(void) {
    adopted = NULL;
    number = 0;
}

void ecs_token_wait(ecs_token *token) {
    if (!token->carrier) return wait_in_kernel(token);
    if (!replace(token, passed, running)) leave_for_rest(token);
}

void ecs_token_change(ecs_token *from, ecs_token *to) {
    if (!from->carrier || from->stays || to->stays || !replace(to, parked, running)) {
        ecs_token_pass(to);
        return ecs_token_wait(from);
    }
    to->carrier = from->carrier;
    leave_for(from, to->stack, to->pointer);
}
#else
bool ecs_may_exchange(void) { return false; }
NO_SANITIZER long ecs_own_number(void) { return 0; }
NO_SANITIZER void ecs_go_home(void) {}
uint64_t ecs_signal_mask(void) { return 0; }
void ecs_token_adopt(ecs_token *token, uint64_t mask) { (void)token, (void)mask; }
void ecs_token_leave(ecs_token *token) { (void)token; }
NO_SANITIZER void ecs_token_wait(ecs_token *token) { wait_in_kernel(token); }
NO_SANITIZER void ecs_token_change(ecs_token *from, ecs_token *to) {
    ecs_token_pass(to);
    wait_in_kernel(from);
}
#endif
