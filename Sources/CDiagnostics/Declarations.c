#ifdef __linux__
// For dladdr.
#define _GNU_SOURCE
#include "Images.h"

#include <string.h>

// Finds the declaration of the function that contains an address, in DWARF 2 to 5. The table of
// lines does not contain it: the code of a closure that the compiler has merged into the function
// that unpacks its captures begins with the lines of inlined code.

enum { tag_unit = 0x11, tag_subprogram = 0x2e };
enum { at_lines = 0x10, at_low = 0x11, at_high = 0x12, at_file = 0x3a, at_line = 0x3b, at_ranges = 0x55 };
enum { at_linkage_name = 0x6e };
enum { most_codes = 1024 };

// One unit: its entries, their encoding, and the descriptions of each kind of entry.
typedef struct {
    ecd_image image;
    bytes entries, texts;
    unsigned version;
    size_t offset_size, address_size;
    bytes kinds[most_codes];
} entries;

// The attributes that are read from an entry. A length counts from `low`.
typedef struct {
    uint64_t tag, low, high, ranges, lines, file, line;
    bool high_is_length, has_ranges;
    const char *name;
} entry;

// Reads a number, or the offset of a text; false for an unknown form.
static bool read_form(bytes *in, const entries *unit, uint64_t form, bytes *kind, uint64_t *value) {
    uint64_t size = 0;
    *value = 0;
    switch (form) {
    case 0x01: *value = fixed(in, unit->address_size); return true;
    case 0x0b: case 0x0c: case 0x11: case 0x25: case 0x29: *value = fixed(in, 1); return true;
    case 0x05: case 0x12: case 0x26: case 0x2a: *value = fixed(in, 2); return true;
    case 0x27: case 0x2b: *value = fixed(in, 3); return true;
    case 0x06: case 0x13: case 0x1c: case 0x28: case 0x2c: *value = fixed(in, 4); return true;
    case 0x07: case 0x14: case 0x20: case 0x24: *value = fixed(in, 8); return true;
    case 0x0d: *value = (uint64_t)variable_signed(in); return true;
    case 0x0f: case 0x15: case 0x1a: case 0x1b: case 0x22: case 0x23: *value = variable(in); return true;
    case 0x0e: case 0x17: case 0x1d: case 0x1f: *value = fixed(in, unit->offset_size); return true;
    case 0x10: *value = fixed(in, unit->version < 3 ? unit->address_size : unit->offset_size); return true;
    case 0x19: *value = 1; return true;
    // The value is stored with the kind.
    case 0x21: *value = (uint64_t)variable_signed(kind); return true;
    case 0x08: text(in); return true;
    case 0x1e: size = 16; break;
    case 0x0a: size = fixed(in, 1); break;
    case 0x03: size = fixed(in, 2); break;
    case 0x04: size = fixed(in, 4); break;
    case 0x09: case 0x18: size = variable(in); break;
    default: return false;
    }
    uint64_t left = (uint64_t)(in->end - in->next);
    in->next += size < left ? size : left;
    return true;
}

// Reads the next entry; false at the end, or if its form is unknown.
static bool read_entry(entries *unit, entry *found) {
    memset(found, 0, sizeof *found);
    uint64_t code = 0;
    // A zero ends the entries inside of another.
    while (!code && unit->entries.next < unit->entries.end) code = variable(&unit->entries);
    if (!code || code >= most_codes || !unit->kinds[code].next) return false;
    bytes kind = unit->kinds[code];
    found->tag = variable(&kind);
    fixed(&kind, 1);
    while (kind.next < kind.end) {
        uint64_t attribute = variable(&kind), form = variable(&kind), value;
        if (!attribute) return true;
        const char *words = form == 0x08 ? (const char *)unit->entries.next : NULL;
        if (!read_form(&unit->entries, unit, form, &kind, &value)) return false;
        switch (attribute) {
        case at_low: found->low = value; break;
        case at_high: found->high = value, found->high_is_length = form != 0x01; break;
        case at_ranges: found->ranges = value, found->has_ranges = form == 0x17 || form == 0x06; break;
        case at_lines: found->lines = value; break;
        case at_file: found->file = value; break;
        case at_line: found->line = value; break;
        case at_linkage_name: found->name = form == 0x0e ? text_at(unit->texts, value) : words; break;
        }
    }
    return false;
}

// Reads the descriptions of the kinds of entries of a unit.
static void read_kinds(entries *unit, bytes table, uint64_t offset) {
    memset(unit->kinds, 0, sizeof unit->kinds);
    if (offset > (uint64_t)(table.end - table.next)) return;
    table.next += offset;
    while (table.next < table.end) {
        uint64_t code = variable(&table);
        if (!code) return;
        if (code < most_codes) unit->kinds[code] = table;
        variable(&table), fixed(&table, 1);
        for (bool ends = false; !ends && table.next < table.end;) {
            uint64_t attribute = variable(&table), form = variable(&table);
            if (form == 0x21) variable_signed(&table);
            ends = !attribute;
        }
    }
}

// Whether a unit with this first entry has code at an address.
static bool contains(const entries *unit, const entry *first, uintptr_t address) {
    uint64_t high = first->high_is_length ? first->low + first->high : first->high;
    if (!first->has_ranges) return first->low <= address && address < high;
    // From version 5 on the ranges are in another form, and the unit is read in any case.
    if (unit->version >= 5) return true;
    bytes ranges = ecd_section(unit->image, ".debug_ranges");
    if (first->ranges > (uint64_t)(ranges.end - ranges.next)) return false;
    ranges.next += first->ranges;
    uint64_t base = first->low;
    while (ranges.next < ranges.end) {
        uint64_t from = fixed(&ranges, unit->address_size), until = fixed(&ranges, unit->address_size);
        if (!from && !until) return false;
        if (from == UINT64_MAX) base = until;
        else if (base + from <= address && address < base + until) return true;
    }
    return false;
}

// Shortens a name to the next name under which the function may be declared: the name of a closure
// ends with its number, and a function that unpacks captures has a suffix.
static bool shorten(char *name) {
    size_t length = strlen(name);
    if (length > 2 && !strcmp(name + length - 2, "TA")) return name[length - 2] = 0, true;
    for (char *end = name + length - 1; end > name + 2; end--) {
        if (*end != '_' || !end[1]) continue;
        char *mark = end - 1;
        while (mark > name && *mark >= '0' && *mark <= '9') mark--;
        if (*mark == 'U' || *mark == 'u') return end[1] = 0, true;
    }
    return false;
}

// Looks for the declaration of a function in a unit; returns its line, or zero.
static uint64_t declaration(entries *unit, const entry *first, const char *name, char *path, size_t size) {
    entry found;
    while (read_entry(unit, &found)) {
        if (found.tag != tag_subprogram || !found.line || !found.name || strcmp(found.name, name)) continue;
        strncpy(path, ecd_file_name(unit->image, first->lines, found.file), size - 1);
        path[size - 1] = 0;
        return found.line;
    }
    return 0;
}

static uint64_t declaration_in(entries *unit, const char *symbol, char *path, size_t size) {
    char name[4096];
    entry first;
    if (strlen(symbol) >= sizeof name || !read_entry(unit, &first) || first.tag != tag_unit) return 0;
    if (!contains(unit, &first, unit->image.offset)) return 0;
    bytes all = unit->entries;
    strcpy(name, symbol);
    do {
        unit->entries = all;
        uint64_t line = declaration(unit, &first, name, path, size);
        if (line) return line;
    } while (shorten(name));
    return 0;
}

uint64_t ecd_declaration(uintptr_t address, char *path, size_t size) {
    entries unit_entries;
    ecd_image *image = &unit_entries.image;
    uintptr_t start;
    path[0] = 0;
    if (!ecd_map(address, image)) return 0;
    const char *symbol = ecd_symbol(*image, &start);
    bytes in = ecd_section(*image, ".debug_info"), kinds = ecd_section(*image, ".debug_abbrev");
    unit_entries.texts = ecd_section(*image, ".debug_str");
    uint64_t line = 0;
    while (symbol && !line && in.next < in.end) {
        bytes body = unit(&in, &unit_entries.offset_size);
        unit_entries.version = (unsigned)fixed(&body, 2);
        if (unit_entries.version < 2 || unit_entries.version > 5) continue;
        uint64_t offset = 0;
        if (unit_entries.version == 5) fixed(&body, 1), unit_entries.address_size = fixed(&body, 1);
        offset = fixed(&body, unit_entries.offset_size);
        if (unit_entries.version < 5) unit_entries.address_size = fixed(&body, 1);
        unit_entries.entries = body;
        read_kinds(&unit_entries, kinds, offset);
        line = declaration_in(&unit_entries, symbol, path, size);
    }
    ecd_unmap(*image);
    return line;
}
#endif
