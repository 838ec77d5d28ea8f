#pragma once
#include <os/clock.h>
#include <stddef.h>
#include <stdint.h>
#define EC_SHIM_AVAILABLE                                                                                              \
    __attribute__((availability(macos, introduced = 14.4), availability(ios, introduced = 17.4),                      \
                   availability(tvos, introduced = 17.4), availability(watchos, introduced = 10.4)))
typedef enum : uint32_t {
    OS_SYNC_WAIT_ON_ADDRESS_NONE = 0,
    OS_SYNC_WAIT_ON_ADDRESS_SHARED = 1,
} os_sync_wait_on_address_flags_t;
typedef enum : uint32_t {
    OS_SYNC_WAKE_BY_ADDRESS_NONE = 0,
    OS_SYNC_WAKE_BY_ADDRESS_SHARED = 1,
} os_sync_wake_by_address_flags_t;
EC_SHIM_AVAILABLE int os_sync_wait_on_address(void *_Nonnull addr, uint64_t value, size_t size,
                                              os_sync_wait_on_address_flags_t flags);
EC_SHIM_AVAILABLE int os_sync_wait_on_address_with_timeout(void *_Nonnull addr, uint64_t value, size_t size,
                                                           os_sync_wait_on_address_flags_t flags, os_clockid_t clockid,
                                                           uint64_t timeout_ns);
EC_SHIM_AVAILABLE int os_sync_wake_by_address_any(void *_Nonnull addr, size_t size,
                                                  os_sync_wake_by_address_flags_t flags);
EC_SHIM_AVAILABLE int os_sync_wake_by_address_all(void *_Nonnull addr, size_t size,
                                                  os_sync_wake_by_address_flags_t flags);
