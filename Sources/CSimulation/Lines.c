#ifdef __linux__
// For dladdr and pthread_getattr_np.
#define _GNU_SOURCE
#include "Doors.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// MARK: The stack

// The end of the calling thread's stack.
static uintptr_t stack_end(void) {
    static _Thread_local uintptr_t end;
    pthread_attr_t attributes;
    if (end || pthread_getattr_np(pthread_self(), &attributes)) return end;
    void *start;
    size_t size;
    if (!pthread_attr_getstack(&attributes, &start, &size)) end = (uintptr_t)start + size;
    pthread_attr_destroy(&attributes);
    return end;
}

// A frame without a pointer to the next one may lead to any place of the stack, also to one that a
// sanitizer guards: what is read there is a number that leads nowhere.
__attribute__((no_sanitize("address", "thread"))) size_t ecs_callers(uintptr_t *addresses, size_t count) {
    uintptr_t end = stack_end(), frame = (uintptr_t)__builtin_frame_address(0);
    size_t found = 0;
    while (found < count && frame % sizeof(uintptr_t) == 0 && frame + 2 * sizeof frame <= end) {
        uintptr_t next = ((uintptr_t *)frame)[0], address = ((uintptr_t *)frame)[1];
        if (!address) break;
        // The call is before the address to which it returns.
        addresses[found++] = address - 1;
        // The frame of an async function has marks in the upper bits. A frame without a pointer to
        // the next one has anything there, and the stack ends the walk.
        next &= ~((uintptr_t)0xf << 60);
        if (next <= frame) break;
        frame = next;
    }
    return found;
}

// MARK: The table of lines

// The table of one file, as DWARF 2 to 5 have it.
typedef struct {
    const uint8_t *next, *end;
} bytes;

static uint64_t fixed(bytes *in, size_t size) {
    uint64_t value = 0;
    if ((size_t)(in->end - in->next) < size) {
        in->next = in->end;
        return 0;
    }
    memcpy(&value, in->next, size);
    in->next += size;
    return value;
}

static uint64_t variable(bytes *in) {
    uint64_t value = 0;
    for (unsigned shift = 0; in->next < in->end; shift += 7) {
        uint8_t byte = *in->next++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static int64_t variable_signed(bytes *in) {
    const uint8_t *start = in->next;
    uint64_t value = variable(in);
    unsigned size = 7 * (unsigned)(in->next - start);
    if (size && size < 64 && in->next[-1] & 0x40) value |= ~(uint64_t)0 << size;
    return (int64_t)value;
}

static const char *text(bytes *in) {
    const uint8_t *start = in->next, *end = memchr(start, 0, (size_t)(in->end - start));
    in->next = end ? end + 1 : in->end;
    return end ? (const char *)start : "";
}

static const char *text_at(bytes section, uint64_t offset) {
    if (offset >= (uint64_t)(section.end - section.next)) return "";
    section.next += offset;
    return text(&section);
}

typedef struct {
    bytes lines, line_texts, texts;
} tables;

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

// The name of the file with a number, in the header whose names begin at `in`.
static const char *file_name(bytes in, const tables *tables, unsigned version, size_t offset_size, uint64_t number) {
    if (version < 5) {
        while (in.next < in.end && *in.next) text(&in);
        in.next += in.next < in.end;
        for (uint64_t i = 1; in.next < in.end && *in.next; i++) {
            const char *name = text(&in);
            if (i == number) return name;
            variable(&in), variable(&in), variable(&in);
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

// Looks for an address in one unit of the table; returns its line, or zero.
static uint64_t line_in(bytes in, const tables *tables, size_t offset_size, uintptr_t wanted, const char **file) {
    unsigned version = (unsigned)fixed(&in, 2);
    if (version < 2 || version > 5) return 0;
    if (version == 5) fixed(&in, 2);
    uint64_t header = fixed(&in, offset_size);
    if (header > (uint64_t)(in.end - in.next)) return 0;
    bytes program = {in.next + header, in.end};
    uint8_t step = (uint8_t)fixed(&in, 1);
    if (version >= 4) fixed(&in, 1);
    fixed(&in, 1);
    int8_t base = (int8_t)fixed(&in, 1);
    uint8_t range = (uint8_t)fixed(&in, 1), first = (uint8_t)fixed(&in, 1);
    if (!range || !first) return 0;
    const uint8_t *lengths = in.next;
    in.next += first - 1;
    if (in.next > program.next) return 0;
    bytes names = {in.next, program.next};

    uint64_t address = 0, number = 1, last_address = 0, last_number = 1;
    int64_t line = 1, last_line = 0;
    // Code that the compiler has added has no line: it belongs to the statement before it.
    struct {
        uint64_t number;
        int64_t line;
    } known = {0, 0};
    bool is_open = false;
    while (program.next < program.end) {
        uint8_t code = (uint8_t)fixed(&program, 1);
        bool adds = false, ends = false;
        if (code >= first) {
            address += (uint64_t)((code - first) / range) * step;
            line += base + (code - first) % range;
            adds = true;
        } else if (code == 0) {
            uint64_t size = variable(&program);
            if (!size || size > (uint64_t)(program.end - program.next)) return 0;
            bytes extended = {program.next, program.next + size};
            program.next += size;
            switch (fixed(&extended, 1)) {
            case 1: adds = ends = true; break;
            case 2: address = fixed(&extended, sizeof(uintptr_t)); break;
            }
        } else {
            switch (code) {
            case 1: adds = true; break;
            case 2: address += variable(&program) * step; break;
            case 3: line += variable_signed(&program); break;
            case 4: number = variable(&program); break;
            case 8: address += (uint64_t)((255 - first) / range) * step; break;
            case 9: address += fixed(&program, 2); break;
            default:
                for (uint8_t i = 0; i < lengths[code - 1]; i++) variable(&program);
            }
        }
        if (!adds) continue;
        if (is_open && last_address <= wanted && wanted < address) {
            *file = file_name(names, tables, version, offset_size, last_number);
            if (last_line > 0) return (uint64_t)last_line;
            return known.number == last_number && known.line > 0 ? (uint64_t)known.line : 0;
        }
        is_open = !ends;
        last_address = address, last_line = line, last_number = number;
        if (line > 0) known.number = number, known.line = line;
        if (ends) address = 0, line = 1, number = 1, known.line = 0;
    }
    return 0;
}

static uint64_t line_of(const tables *tables, uintptr_t wanted, const char **file) {
    bytes in = tables->lines;
    while (in.next < in.end) {
        size_t offset_size = 4;
        uint64_t size = fixed(&in, 4);
        if (size == 0xffffffff) offset_size = 8, size = fixed(&in, 8);
        if (size > (uint64_t)(in.end - in.next)) return 0;
        uint64_t line = line_in((bytes){in.next, in.next + size}, tables, offset_size, wanted, file);
        if (**file) return line;
        in.next += size;
    }
    return 0;
}

// MARK: The program file

static bytes section(const uint8_t *file, size_t size, const char *name) {
    bytes none = {file, file};
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
    if (size < sizeof *header || memcmp(file, ELFMAG, SELFMAG) || file[EI_CLASS] != ELFCLASS64) return none;
    if (!ecs_is_inside(header->e_shoff, (size_t)header->e_shnum * sizeof(Elf64_Shdr), size)) return none;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + header->e_shoff);
    if (header->e_shstrndx >= header->e_shnum) return none;
    const Elf64_Shdr *names = &sections[header->e_shstrndx];
    if (!ecs_is_inside(names->sh_offset, names->sh_size, size)) return none;
    bytes texts = {file + names->sh_offset, file + names->sh_offset + names->sh_size};
    for (size_t i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *one = &sections[i];
        if (strcmp(text_at(texts, one->sh_name), name) || one->sh_flags & SHF_COMPRESSED) continue;
        if (one->sh_type == SHT_NOBITS || !ecs_is_inside(one->sh_offset, one->sh_size, size)) continue;
        return (bytes){file + one->sh_offset, file + one->sh_offset + one->sh_size};
    }
    return none;
}

uint64_t ecs_line(uintptr_t address, char *name, size_t size) {
    Dl_info image;
    name[0] = 0;
    if (!dladdr((void *)address, &image)) return 0;
    size_t length;
    const uint8_t *file = ecs_map_image(&image, &length);
    if (!file) return 0;
    tables tables = {
        section(file, length, ".debug_line"), section(file, length, ".debug_line_str"),
        section(file, length, ".debug_str")};
    const char *found = "";
    uint64_t line = line_of(&tables, address - (uintptr_t)image.dli_fbase, &found);
    strncpy(name, found, size - 1);
    name[size - 1] = 0;
    munmap((void *)file, length);
    return line;
}
#endif
