#pragma once
#include <stdint.h>
typedef int kern_return_t;
typedef int integer_t;
typedef unsigned int natural_t;
typedef natural_t mach_port_t;
typedef mach_port_t thread_act_t;
typedef mach_port_t thread_inspect_t;
typedef natural_t thread_flavor_t;
typedef integer_t *thread_info_t;
typedef natural_t mach_msg_type_number_t;
typedef int policy_t;
typedef struct {
    integer_t seconds;
    integer_t microseconds;
} time_value_t;
struct thread_basic_info {
    time_value_t user_time;
    time_value_t system_time;
    integer_t cpu_usage;
    policy_t policy;
    integer_t run_state;
    integer_t flags;
    integer_t suspend_count;
    integer_t sleep_time;
};
typedef struct thread_basic_info thread_basic_info_data_t;
typedef struct thread_basic_info *thread_basic_info_t;
#define KERN_SUCCESS 0
#define THREAD_BASIC_INFO 3
#define THREAD_BASIC_INFO_COUNT ((mach_msg_type_number_t)(sizeof(thread_basic_info_data_t) / sizeof(natural_t)))
#define TH_STATE_RUNNING 1
#define TH_STATE_STOPPED 2
#define TH_STATE_WAITING 3
#define TH_STATE_UNINTERRUPTIBLE 4
#define TH_STATE_HALTED 5
kern_return_t thread_info(thread_inspect_t target_act, thread_flavor_t flavor, thread_info_t _Nullable thread_info_out,
                          mach_msg_type_number_t *_Nonnull thread_info_outCnt);
