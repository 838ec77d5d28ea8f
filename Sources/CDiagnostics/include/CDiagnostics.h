#ifndef CDIAGNOSTICS_H
#define CDIAGNOSTICS_H

// What the program's own files say of its code, and the signals that ask what it does.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where code of the program was written. An address is one of code that is loaded. The calls read
// the program's own files, and take milliseconds.

/// Writes the demangled name of the Swift function that contains an address; false if there is
/// none.
bool ecd_function(uintptr_t address, char *_Nonnull name, size_t size);

/// Writes the path of the source that contains the code at an address, or nothing; returns its
/// line, and zero where the compiler gives none.
uint64_t ecd_line(uintptr_t address, char *_Nonnull path, size_t size);

/// Writes the path of the source that declares the function at an address, or nothing; returns the
/// line at which it begins, and zero where none is known.
uint64_t ecd_declaration(uintptr_t address, char *_Nonnull path, size_t size);

/// Takes over what the process does at a signal: from now on the returned descriptor can be read
/// after one; -1 if the system refuses. The caller excludes other calls for the same signal.
int ecd_signal_receive(int number);
/// Gives the signal back to what it did before.
void ecd_signal_restore(int number);
/// Waits until the descriptor of a signal can be read, and empties it; false if no signal came.
bool ecd_signal_wait(int read_end);
/// Ends a wait without a signal.
void ecd_signal_wake(int number);

#endif
