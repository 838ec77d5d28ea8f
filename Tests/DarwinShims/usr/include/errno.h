#pragma once
extern int *_Nonnull __error(void);
#define errno (*__error())
#define EINTR 4
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define ECONNABORTED 53
#define EPIPE 32
#define ETIMEDOUT 60
