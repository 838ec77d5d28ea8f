#if defined(__APPLE__)
#include "CPlatform.h"

#include <mach/mach.h>
#include <os/clock.h>
#include <os/os_sync_wait_on_address.h>
#include <pthread.h>
#include <pthread/qos.h>
#include <sys/sysctl.h>
#include <time.h>

void ec_wait(const void *word, uint32_t expected, int64_t deadline) {
    ec_refuse_wait_in_fork();
    if (deadline == EC_NEVER) {
        os_sync_wait_on_address((void *)word, expected, 4, OS_SYNC_WAIT_ON_ADDRESS_NONE);
        return;
    }
    // This is the library's monotonic clock on this system. The system refuses a timeout of zero.
    int64_t left = deadline - (int64_t)clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
    if (left <= 0) return;
    os_sync_wait_on_address_with_timeout((void *)word, expected, 4, OS_SYNC_WAIT_ON_ADDRESS_NONE,
                                         OS_CLOCK_MACH_ABSOLUTE_TIME, (uint64_t)left);
}

void ec_wake_one(const void *word) {
    os_sync_wake_by_address_any((void *)word, 4, OS_SYNC_WAKE_BY_ADDRESS_NONE);
}

bool ec_is_main_thread(void) { return pthread_main_np() != 0; }

// The system offers no barrier for other threads, so the mode stays portable.
void ec_barrier_prepare(void) {}
void ec_barrier(void) {}

int64_t ec_thread_handle(void) { return pthread_mach_thread_np(pthread_self()); }

static bool info_of(int64_t handle, thread_basic_info_data_t *info) {
    mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;
    return thread_info((thread_act_t)handle, THREAD_BASIC_INFO, (thread_info_t)info, &count) == KERN_SUCCESS;
}

ec_activity ec_thread_activity(int64_t handle) {
    thread_basic_info_data_t info;
    if (!info_of(handle, &info)) return ec_activity_unknown;
    if (info.run_state == TH_STATE_UNINTERRUPTIBLE) return ec_activity_paging;
    return info.run_state == TH_STATE_WAITING ? ec_activity_asleep : ec_activity_awake;
}

int64_t ec_thread_time(int64_t handle) {
    thread_basic_info_data_t info;
    if (!info_of(handle, &info)) return -1;
    int64_t seconds = (int64_t)info.user_time.seconds + info.system_time.seconds;
    int64_t microseconds = (int64_t)info.user_time.microseconds + info.system_time.microseconds;
    return seconds * 1000000000 + microseconds * 1000;
}

void ec_thread_configure(const char *name, uint32_t quality) {
    pthread_setname_np(name);
    // A reused thread must not keep the quality of service of its last body.
    pthread_set_qos_class_self_np(quality != 0 ? (qos_class_t)quality : QOS_CLASS_DEFAULT, 0);
}

bool ec_dispatch_can_begin(bool timers) {
    (void)timers;
    return true;
}

int32_t ec_processor_count(void) {
    int32_t count = 0;
    size_t size = sizeof count;
    if (sysctlbyname("hw.activecpu", &count, &size, NULL, 0) == 0 && count > 0) return count;
    return 1;
}
#endif
