#ifdef __linux__
// For dladdr.
#define _GNU_SOURCE
#include "Doors.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern char *swift_demangle(const char *name, size_t length, char *output, size_t *size, uint32_t flags);

// The symbol of the function at `offset` of a program file. Functions that no other file calls are
// in its symbol table only, which dladdr does not read.
static const char *symbol(const char *file, size_t size, uintptr_t offset) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
    if (size < sizeof *header || memcmp(file, ELFMAG, SELFMAG) || file[EI_CLASS] != ELFCLASS64) return NULL;
    if (!ecs_is_inside(header->e_shoff, (size_t)header->e_shnum * sizeof(Elf64_Shdr), size)) return NULL;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + header->e_shoff);
    for (size_t i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum) continue;
        const Elf64_Shdr names = sections[sections[i].sh_link];
        if (!ecs_is_inside(sections[i].sh_offset, sections[i].sh_size, size)) continue;
        // The last name ends with the table.
        if (!names.sh_size || !ecs_is_inside(names.sh_offset, names.sh_size, size)) continue;
        if (file[names.sh_offset + names.sh_size - 1]) continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(file + sections[i].sh_offset);
        for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++) {
            Elf64_Sym entry = symbols[k];
            if (ELF64_ST_TYPE(entry.st_info) != STT_FUNC || offset - entry.st_value >= entry.st_size) continue;
            if (entry.st_name < names.sh_size) return file + names.sh_offset + entry.st_name;
        }
    }
    return NULL;
}

const void *ecs_map_image(const void *image, size_t *size) {
    const Dl_info *known = image;
    struct stat status;
    if (!known->dli_fname) return NULL;
    // The main program may have been started by a relative path, from another folder.
    int file = open(known->dli_fname, O_RDONLY | O_CLOEXEC);
    if (file < 0) file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    void *bytes = MAP_FAILED;
    if (!fstat(file, &status) && status.st_size > 0) {
        *size = (size_t)status.st_size;
        bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    close(file);
    return bytes == MAP_FAILED ? NULL : bytes;
}

bool ecs_function(uintptr_t address, char *name, size_t size) {
    Dl_info image;
    size_t length;
    if (!dladdr((void *)address, &image)) return false;
    const char *bytes = ecs_map_image(&image, &length);
    if (!bytes) return false;
    const char *mangled = symbol(bytes, length, address - (uintptr_t)image.dli_fbase);
    // Of the program's own functions only those of Swift are told.
    bool found = mangled && mangled[0] == '$' && swift_demangle(mangled, strlen(mangled), name, &size, 0);
    munmap((void *)bytes, length);
    return found;
}
#endif
