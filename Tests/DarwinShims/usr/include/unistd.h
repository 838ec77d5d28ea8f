#pragma once
typedef int pid_t;
typedef long ssize_t;
unsigned int sleep(unsigned int);
int usleep(unsigned int);
int getpid(void);
int close(int);
int pipe(int [2]);
int isatty(int);
long read(int, void *, unsigned long);
long write(int, const void *, unsigned long);
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
int pause(void);
unsigned int alarm(unsigned int);
