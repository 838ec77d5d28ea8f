#ifndef CDIAGNOSTICS_H
#define CDIAGNOSTICS_H

// Look-ups of code in the program's own files, and diagnostic signals.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The source locations of the program's code. An address is one of loaded code. The calls read the
// program's own files, and take milliseconds.

/// Writes the demangled name of the Swift function that contains an address; false if there is
/// none.
bool ecd_function(uintptr_t address, char *_Nonnull name, size_t size);
/// The same for a global or static variable.
bool ecd_variable(uintptr_t address, char *_Nonnull name, size_t size);
/// Whether the compiler has made the function that an address belongs to, to find the metadata of
/// types.
bool ecd_is_made_by_compiler(uintptr_t address);

/// Writes the path of the source that contains the code at an address, or nothing; returns its
/// line, and zero where the compiler gives none.
uint64_t ecd_line(uintptr_t address, char *_Nonnull path, size_t size);

/// Writes the path of the source that declares the function at an address, or nothing; returns the
/// line at which it begins, and zero where none is known.
uint64_t ecd_declaration(uintptr_t address, char *_Nonnull path, size_t size);

/// Takes over a signal: from now on the returned descriptor is readable after one; -1 if the system
/// refuses. The caller excludes concurrent calls for the same signal.
int ecd_signal_receive(int number);
/// Restores the previous action of the signal.
void ecd_signal_restore(int number);
/// Waits until the descriptor of a signal is readable, and empties it; false if there was no
/// signal.
bool ecd_signal_wait(int read_end);
/// Ends a wait without a signal.
void ecd_signal_wake(int number);

#endif
