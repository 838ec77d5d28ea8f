#ifdef __linux__
// For dladdr.
#define _GNU_SOURCE
#include "Lines.h"

#include <stdio.h>

typedef struct {
    bytes lines, line_texts, texts;
} tables;

static tables tables_of(ecd_image image) {
    return (tables){
        ecd_section(image, ".debug_line"), ecd_section(image, ".debug_line_str"), ecd_section(image, ".debug_str")};
}

enum { form_string = 0x08, form_data16 = 0x1e, form_udata = 0x0f, form_line_strp = 0x1f, form_strp = 0x0e };
enum { form_data1 = 0x0b, form_data2 = 0x05, form_data4 = 0x06, form_block = 0x09 };

// Reads the value of an entry, which is a name or a number.
static const char *value(bytes *in, const tables *tables, uint64_t form, size_t offset_size) {
    switch (form) {
    case form_string: return text(in);
    case form_line_strp: return text_at(tables->line_texts, fixed(in, offset_size));
    case form_strp: return text_at(tables->texts, fixed(in, offset_size));
    case form_udata: variable(in); return "";
    case form_data1: fixed(in, 1); return "";
    case form_data2: fixed(in, 2); return "";
    case form_data4: fixed(in, 4); return "";
    case form_data16: in->next += in->end - in->next < 16 ? in->end - in->next : 16; return "";
    case form_block: {
        uint64_t size = variable(in);
        in->next += size < (uint64_t)(in->end - in->next) ? size : (uint64_t)(in->end - in->next);
        return "";
    }
    default: in->next = in->end; return "";
    }
}

// The name of the file with a number, in the header whose names begin at `in`; and its folder, if
// that is asked for and the header has it.
static const char *file_name(
    bytes in, const tables *tables, unsigned version, size_t offset_size, uint64_t number, const char **folder) {
    if (version < 5) {
        bytes folders = in;
        while (in.next < in.end && *in.next) text(&in);
        in.next += in.next < in.end;
        for (uint64_t i = 1; in.next < in.end && *in.next; i++) {
            const char *name = text(&in);
            uint64_t place = variable(&in);
            variable(&in), variable(&in);
            if (i != number) continue;
            for (; folder && place > 0 && folders.next < in.next; place--) *folder = text(&folders);
            return name;
        }
        return "";
    }
    const char *name = "";
    // The folders, and then the files.
    for (int table = 0; table < 2; table++) {
        struct {
            uint64_t content, form;
        } columns[16];
        uint64_t width = fixed(&in, 1);
        for (uint64_t i = 0; i < width; i++) {
            uint64_t content = variable(&in), form = variable(&in);
            if (i < 16) columns[i].content = content, columns[i].form = form;
        }
        uint64_t count = width ? variable(&in) : 0;
        for (uint64_t i = 0; i < count && in.next < in.end; i++) {
            for (uint64_t k = 0; k < width && k < 16; k++) {
                const char *found = value(&in, tables, columns[k].form, offset_size);
                // 1 is the content code of a path.
                if (table && i == number && columns[k].content == 1) name = found;
            }
        }
    }
    return name;
}

static bool read_header(bytes in, size_t offset_size, ecd_line_header *header) {
    header->version = (unsigned)fixed(&in, 2);
    if (header->version < 2 || header->version > 5) return false;
    if (header->version == 5) fixed(&in, 2);
    uint64_t length = fixed(&in, offset_size);
    if (length > (uint64_t)(in.end - in.next)) return false;
    header->program = (bytes){in.next + length, in.end};
    header->step = (uint8_t)fixed(&in, 1);
    if (header->version >= 4) fixed(&in, 1);
    fixed(&in, 1);
    header->base = (int8_t)fixed(&in, 1);
    header->range = (uint8_t)fixed(&in, 1), header->first = (uint8_t)fixed(&in, 1);
    if (!header->range || !header->first) return false;
    header->lengths = in.next;
    in.next += header->first - 1;
    if (in.next > header->program.next) return false;
    header->names = (bytes){in.next, header->program.next};
    return true;
}

static void restart(ecd_line_rows *rows) { rows->address = 0, rows->number = 1, rows->line = 1, rows->ends = false; }

bool ecd_read_rows(bytes in, size_t offset_size, ecd_line_rows *rows) {
    if (!read_header(in, offset_size, &rows->header)) return false;
    rows->program = rows->header.program;
    restart(rows);
    return true;
}

bool ecd_next_row(ecd_line_rows *rows) {
    bytes *program = &rows->program;
    uint8_t step = rows->header.step, range = rows->header.range, first = rows->header.first;
    if (rows->ends) restart(rows);
    while (program->next < program->end) {
        uint8_t code = (uint8_t)fixed(program, 1);
        if (code >= first) {
            rows->address += (uint64_t)((code - first) / range) * step;
            rows->line += rows->header.base + (code - first) % range;
            return true;
        }
        if (code == 0) {
            uint64_t size = variable(program);
            if (!size || size > (uint64_t)(program->end - program->next)) break;
            bytes extended = {program->next, program->next + size};
            program->next += size;
            switch (fixed(&extended, 1)) {
            case 1: return rows->ends = true;
            case 2: rows->address = fixed(&extended, sizeof(uintptr_t)); break;
            }
            continue;
        }
        switch (code) {
        case 1: return true;
        case 2: rows->address += variable(program) * step; break;
        case 3: rows->line += variable_signed(program); break;
        case 4: rows->number = variable(program); break;
        case 8: rows->address += (uint64_t)((255 - first) / range) * step; break;
        case 9: rows->address += fixed(program, 2); break;
        default:
            for (uint8_t i = 0; i < rows->header.lengths[code - 1]; i++) variable(program);
        }
    }
    return false;
}

// Looks for an address in one unit of the table; returns its line, or zero.
static uint64_t line_in(
    bytes in, const tables *tables, size_t offset_size, uintptr_t wanted, const char **file, const char **folder) {
    ecd_line_rows rows;
    if (!ecd_read_rows(in, offset_size, &rows)) return 0;
    uint64_t last_address = 0, last_number = 1;
    int64_t last_line = 0;
    // Code that the compiler has added has no line: it belongs to the preceding statement.
    struct {
        uint64_t number;
        int64_t line;
    } known = {0, 0};
    bool is_open = false;
    while (ecd_next_row(&rows)) {
        if (is_open && last_address <= wanted && wanted < rows.address) {
            *file = file_name(rows.header.names, tables, rows.header.version, offset_size, last_number, folder);
            if (last_line > 0) return (uint64_t)last_line;
            return known.number == last_number && known.line > 0 ? (uint64_t)known.line : 0;
        }
        is_open = !rows.ends;
        last_address = rows.address, last_line = rows.line, last_number = rows.number;
        if (rows.line > 0) known.number = rows.number, known.line = rows.line;
        if (rows.ends) known.line = 0;
    }
    return 0;
}

const char *ecd_file_name(ecd_image image, uint64_t offset, uint64_t number) {
    tables tables = tables_of(image);
    if (offset >= (uint64_t)(tables.lines.end - tables.lines.next)) return "";
    tables.lines.next += offset;
    size_t offset_size;
    ecd_line_header header;
    bytes in = unit(&tables.lines, &offset_size);
    if (!read_header(in, offset_size, &header)) return "";
    return file_name(header.names, &tables, header.version, offset_size, number, NULL);
}

uint64_t ecd_line(uintptr_t address, char *path, size_t size) {
    ecd_image image;
    path[0] = 0;
    if (!ecd_map(address, &image)) return 0;
    tables tables = tables_of(image);
    const ecd_line_index *index = ecd_index_of(image, tables.lines);
    const char *file = "", *folder = "";
    uint64_t line = 0;
    for (size_t i = 0; index && !*file && i < index->count; i++) {
        ecd_sequence one = index->sequences[i];
        if (image.offset < one.low || image.offset >= one.high) continue;
        if (one.unit > (uint64_t)(tables.lines.end - tables.lines.next)) continue;
        bytes in = {tables.lines.next + one.unit, tables.lines.end};
        size_t offset_size;
        in = unit(&in, &offset_size);
        line = line_in(in, &tables, offset_size, image.offset, &file, &folder);
    }
    snprintf(path, size, "%s%s%s", folder, *folder ? "/" : "", file);
    ecd_unmap(image);
    return line;
}
#endif
