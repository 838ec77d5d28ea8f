#ifndef IMAGES_H
#define IMAGES_H

// Shared by the readers of the symbols and the debug information of the program's own files.

#include "CDiagnostics.h"

#include <dlfcn.h>
#include <string.h>

/// Whether a symbol is that of a function of the compiler that looks up the metadata of a type.
static inline bool ecd_finds_metadata(const char *symbol) {
    size_t length = strlen(symbol);
    if (!strncmp(symbol, "__swift_", 8)) return true;
    return length > 2 && symbol[0] == '$' && (!strcmp(symbol + length - 2, "Ma") || !strcmp(symbol + length - 2, "Wl"));
}

/// A part of a program file that is being read.
typedef struct {
    const uint8_t *next, *end;
} bytes;

static inline uint64_t fixed(bytes *in, size_t size) {
    uint64_t value = 0;
    if ((size_t)(in->end - in->next) < size) {
        in->next = in->end;
        return 0;
    }
    memcpy(&value, in->next, size);
    in->next += size;
    return value;
}

static inline uint64_t variable(bytes *in) {
    uint64_t value = 0;
    for (unsigned shift = 0; in->next < in->end; shift += 7) {
        uint8_t byte = *in->next++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static inline int64_t variable_signed(bytes *in) {
    const uint8_t *start = in->next;
    uint64_t value = variable(in);
    unsigned size = 7 * (unsigned)(in->next - start);
    if (size && size < 64 && in->next[-1] & 0x40) value |= ~(uint64_t)0 << size;
    return (int64_t)value;
}

static inline const char *text(bytes *in) {
    const uint8_t *start = in->next, *end = memchr(start, 0, (size_t)(in->end - start));
    in->next = end ? end + 1 : in->end;
    return end ? (const char *)start : "";
}

static inline const char *text_at(bytes section, uint64_t offset) {
    if (offset >= (uint64_t)(section.end - section.next)) return "";
    section.next += offset;
    return text(&section);
}

/// Reads the size of a unit, and whether its offsets have 4 or 8 bytes; the unit, without the size.
static inline bytes unit(bytes *in, size_t *offset_size) {
    *offset_size = 4;
    uint64_t size = fixed(in, 4);
    if (size == 0xffffffff) *offset_size = 8, size = fixed(in, 8);
    uint64_t left = (uint64_t)(in->end - in->next);
    bytes unit = {in->next, in->next + (size < left ? size : left)};
    in->next = unit.end;
    return unit;
}

/// Whether a part of a file lies inside of it.
static inline bool is_inside(uint64_t offset, uint64_t size, size_t length) {
    return offset <= length && size <= length - offset;
}

/// The identity of a file and its contents.
typedef struct {
    uint64_t device, number, length, seconds, nanoseconds;
} ecd_file_identity;

/// The program file that contains an address.
typedef struct {
    const char *file;
    size_t length;
    ecd_file_identity identity;
    /// The address as an offset in the file.
    uintptr_t offset;
} ecd_image;

/// Maps the file; false if it cannot be read. `ecd_unmap` ends it.
bool ecd_map(uintptr_t address, ecd_image *image);
void ecd_unmap(ecd_image image);

/// The symbol of the function at the image's address, and where it begins; null if there is none.
const char *ecd_symbol(ecd_image image, uintptr_t *start);

/// A section of the file; empty if there is none.
bytes ecd_section(ecd_image image, const char *name);

/// The name of the file with a number in the table of lines at `offset`.
const char *ecd_file_name(ecd_image image, uint64_t offset, uint64_t number);

#endif
