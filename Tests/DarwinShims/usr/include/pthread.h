#pragma once
#include <stddef.h>
typedef unsigned int __darwin_mach_port_t;
struct _opaque_pthread_t {
    long __sig;
    void *__cleanup_stack;
    char __opaque[8176];
};
typedef struct _opaque_pthread_t *pthread_t;
typedef unsigned long pthread_key_t;
struct _opaque_pthread_once_t {
    long __sig;
    char __opaque[8];
};
typedef struct _opaque_pthread_once_t pthread_once_t;
#define PTHREAD_ONCE_INIT {0x30B1BCBA, {0}}
int pthread_atfork(void (*_Nullable)(void), void (*_Nullable)(void), void (*_Nullable)(void));
int pthread_key_create(pthread_key_t *_Nonnull, void (*_Nullable)(void *_Nonnull));
int pthread_once(pthread_once_t *_Nonnull, void (*_Nonnull)(void));
void *_Nullable pthread_getspecific(pthread_key_t);
int pthread_setspecific(pthread_key_t, const void *_Nullable);
pthread_t _Nonnull pthread_self(void);
void *_Nonnull pthread_get_stackaddr_np(pthread_t _Nonnull thread);
int pthread_main_np(void);
struct _opaque_pthread_attr_t {
    long __sig;
    char __opaque[56];
};
typedef struct _opaque_pthread_attr_t pthread_attr_t;
#define PTHREAD_CREATE_JOINABLE 1
#define PTHREAD_CREATE_DETACHED 2
int pthread_attr_init(pthread_attr_t *_Nonnull);
int pthread_attr_destroy(pthread_attr_t *_Nonnull);
int pthread_attr_setdetachstate(pthread_attr_t *_Nonnull, int);
int pthread_attr_setstacksize(pthread_attr_t *_Nonnull, size_t);
int pthread_create(pthread_t _Nullable *_Nonnull, const pthread_attr_t *_Nullable,
                   void *_Nullable (*_Nonnull)(void *_Nullable), void *_Nullable);
int pthread_join(pthread_t _Nonnull, void *_Nullable *_Nullable);
int pthread_detach(pthread_t _Nonnull);
int pthread_setname_np(const char *_Nonnull);
int pthread_key_delete(pthread_key_t);
int pthread_equal(pthread_t _Nullable, pthread_t _Nullable);
struct _opaque_pthread_rwlock_t {
    long __sig;
    char __opaque[192];
};
typedef struct _opaque_pthread_rwlock_t pthread_rwlock_t;
struct _opaque_pthread_rwlockattr_t {
    long __sig;
    char __opaque[16];
};
typedef struct _opaque_pthread_rwlockattr_t pthread_rwlockattr_t;
int pthread_rwlock_init(pthread_rwlock_t *_Nonnull, const pthread_rwlockattr_t *_Nullable);
int pthread_rwlock_destroy(pthread_rwlock_t *_Nonnull);
int pthread_rwlock_rdlock(pthread_rwlock_t *_Nonnull);
int pthread_rwlock_wrlock(pthread_rwlock_t *_Nonnull);
int pthread_rwlock_unlock(pthread_rwlock_t *_Nonnull);
__darwin_mach_port_t pthread_mach_thread_np(pthread_t _Nonnull);
int pthread_atfork(void (*_Nullable)(void), void (*_Nullable)(void), void (*_Nullable)(void));
