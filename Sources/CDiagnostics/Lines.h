#ifndef LINES_H
#define LINES_H

// The tables that map the addresses of a program file to lines.

#include "Images.h"

/// The header of one unit of the table.
typedef struct {
    unsigned version;
    uint8_t step, range, first;
    int8_t base;
    const uint8_t *lengths;
    bytes names, program;
} ecd_line_header;

/// The rows that the program of a unit generates, one after another.
typedef struct {
    ecd_line_header header;
    bytes program;
    uint64_t address, number;
    int64_t line;
    /// Whether this row is the end of a sequence of contiguous code.
    bool ends;
} ecd_line_rows;

/// Starts at a unit, without its size; false if its header cannot be read.
bool ecd_read_rows(bytes unit, size_t offset_size, ecd_line_rows *rows);

/// Advances to the next row; false if there is none.
bool ecd_next_row(ecd_line_rows *rows);

/// The location of a sequence's code, and the offset of its unit in the table.
typedef struct {
    uint64_t low, high, unit;
} ecd_sequence;

/// All sequences of a file.
typedef struct ecd_line_index {
    struct ecd_line_index *next;
    ecd_file_identity identity;
    size_t count;
    ecd_sequence sequences[];
} ecd_line_index;

/// The index of a file with this table of lines; null if there is no memory for it. It is never
/// freed.
const ecd_line_index *ecd_index_of(ecd_image image, bytes table);

#endif
