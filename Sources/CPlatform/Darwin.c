#if defined(__APPLE__)
#include "CPlatform.h"

#include <mach/mach.h>
#include <os/clock.h>
#include <os/os_sync_wait_on_address.h>
#include <pthread.h>
#include <time.h>

void ec_wait(const void *word, uint32_t expected, int64_t deadline) {
    if (deadline == EC_NEVER) {
        os_sync_wait_on_address((void *)word, expected, 4, OS_SYNC_WAIT_ON_ADDRESS_NONE);
        return;
    }
    // The library's monotonic clock here; a timeout of zero would be refused.
    int64_t left = deadline - (int64_t)clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
    if (left <= 0) return;
    os_sync_wait_on_address_with_timeout((void *)word, expected, 4, OS_SYNC_WAIT_ON_ADDRESS_NONE,
                                         OS_CLOCK_MACH_ABSOLUTE_TIME, (uint64_t)left);
}

void ec_wake_one(const void *word) {
    os_sync_wake_by_address_any((void *)word, 4, OS_SYNC_WAKE_BY_ADDRESS_NONE);
}

bool ec_is_main_thread(void) { return pthread_main_np() != 0; }

// The system offers no barrier for other threads: the mode stays portable.
void ec_barrier_prepare(void) {}
void ec_barrier(void) {}

int64_t ec_thread_handle(void) { return pthread_mach_thread_np(pthread_self()); }

bool ec_thread_sleeps(int64_t handle) {
    thread_basic_info_data_t info;
    mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;
    if (thread_info((thread_act_t)handle, THREAD_BASIC_INFO, (thread_info_t)&info, &count) != KERN_SUCCESS) return false;
    return info.run_state == TH_STATE_WAITING || info.run_state == TH_STATE_UNINTERRUPTIBLE;
}

// Nor does it let a program choose processors.
void ec_pin(uint32_t number) { (void)number; }
#endif
