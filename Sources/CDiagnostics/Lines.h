#ifndef LINES_H
#define LINES_H

// The tables that say for each address of a program file which line it comes from.

#include "Images.h"

/// The header of one unit of the table.
typedef struct {
    unsigned version;
    uint8_t step, range, first;
    int8_t base;
    const uint8_t *lengths;
    bytes names, program;
} ecd_line_header;

/// The rows that the program of a unit makes, one after the other.
typedef struct {
    ecd_line_header header;
    bytes program;
    uint64_t address, number;
    int64_t line;
    /// Whether this row is the end of a sequence: of code that lies in one piece.
    bool ends;
} ecd_line_rows;

/// Begins with a unit, without its size; false if its header cannot be read.
bool ecd_read_rows(bytes unit, size_t offset_size, ecd_line_rows *rows);

/// Goes to the next row; false if there is none.
bool ecd_next_row(ecd_line_rows *rows);

/// Where the code of a sequence lies, and where in the table the unit of the sequence begins.
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

/// The index of a file, whose table of lines this is; null if there is no memory for it. It stays.
const ecd_line_index *ecd_index_of(ecd_image image, bytes table);

#endif
