#ifdef __APPLE__
#include "Interposition.h"

#include <pthread.h>
#include <unistd.h>

// Libraries are bound to the runtime's own function, which a program cannot interpose.
bool ecs_takes_switches(void) { return false; }

bool ecs_sees_all(void) { return false; }

// Callers are looked up on Linux only.
size_t ecs_callers(uintptr_t *addresses, size_t count) {
    (void)addresses, (void)count;
    return 0;
}

const void *ecs_stack_end(void) { return pthread_get_stackaddr_np(pthread_self()); }

const void *ecs_owned_buffer(const void *address, size_t *size) {
    (void)address, (void)size;
    return NULL;
}

bool ecs_field(const void *address, const char **type, const char **field) {
    (void)address, (void)type, (void)field;
    return false;
}

// The locations at which tasks resume are reported on Linux only.
bool ecs_read(const void *from, void *to, size_t size) {
    (void)from, (void)to, (void)size;
    return false;
}

// The library of the system is not for programs to change.
void ecs_fix_order_of_tables(void) {}

// The system does not allow a program to choose processors.
void ecs_pin(uint32_t number) { (void)number; }

// The system cannot end a thread and keep its stack.
_Noreturn void ecs_end_thread(void) {
    for (;;) pause();
}

// Tests of XCTest are not searched.
bool ecs_is_xctest(const void *address) {
    (void)address;
    return false;
}

// The simulation does not wait for locks of the system.
uint32_t ecs_thread(void) { return 0; }
bool ecs_is_taken(ecs_lock lock) {
    (void)lock;
    return false;
}

uint32_t ecs_holder(ecs_lock lock) {
    (void)lock;
    return 0;
}

void ecs_give_back_lock(ecs_lock lock, uint32_t owner) { (void)lock, (void)owner; }

// Nor for Dispatch semaphores and groups.
bool ecs_try(ecs_counter counter) {
    (void)counter;
    return false;
}

ecs_time ecs_time_of(uint64_t time) { return (ecs_time){ecs_instant, ecs_uptime, (int64_t)time}; }

int64_t ecs_clock_start(ecs_clock clock) {
    (void)clock;
    return 0;
}

int64_t ecs_real_time(ecs_clock clock) {
    (void)clock;
    return 0;
}

void ecs_give_back(ecs_counter counter) { (void)counter; }
bool ecs_has_takers(ecs_counter counter) { (void)counter; return false; }
void ecs_perform(ecs_dispatch_job job) { (void)job; }
void ecs_discard(ecs_dispatch_job job) { (void)job; }
bool ecs_is_cancelled(ecs_dispatch_job job) {
    (void)job;
    return false;
}

// No yield is reported.
ecs_outcome ecs_outcome_of(ecs_yield yield) {
    (void)yield;
    return ecs_is_unknown;
}

// No Dispatch queue is known.
const void *ecs_main_queue(void) { return ""; }
const char *ecs_queue_label(const void *queue) {
    (void)queue;
    return "";
}
bool ecs_queue_is_serial(const void *queue) {
    (void)queue;
    return true;
}
bool ecs_queue_is_main(const void *queue) {
    (void)queue;
    return false;
}
bool ecs_queue_is_global(const void *queue) {
    (void)queue;
    return false;
}
bool ecs_queue_is_suspended(const void *queue) {
    (void)queue;
    return false;
}
const void *ecs_queue_target(const void *queue) {
    (void)queue;
    return NULL;
}
void ecs_queue_keep(const void *queue) { (void)queue; }
void ecs_queue_drop(const void *queue) { (void)queue; }
void ecs_dispatch_retain(const void *object) { (void)object; }
void ecs_dispatch_release(const void *object) { (void)object; }
#endif
