#ifdef __linux__
// For dladdr.
#define _GNU_SOURCE
#include "CSimulation.h"

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
    if (header->e_shoff + (size_t)header->e_shnum * sizeof(Elf64_Shdr) > size) return NULL;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + header->e_shoff);
    for (size_t i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum) continue;
        const Elf64_Shdr names = sections[sections[i].sh_link];
        if (sections[i].sh_offset + sections[i].sh_size > size || names.sh_offset + names.sh_size > size) continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(file + sections[i].sh_offset);
        for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++) {
            Elf64_Sym entry = symbols[k];
            if (ELF64_ST_TYPE(entry.st_info) != STT_FUNC || offset - entry.st_value >= entry.st_size) continue;
            if (entry.st_name < names.sh_size) return file + names.sh_offset + entry.st_name;
        }
    }
    return NULL;
}

bool ecs_function(uintptr_t address, char *name, size_t size) {
    Dl_info image;
    struct stat status;
    if (!dladdr((void *)address, &image) || !image.dli_fname) return false;
    // The main program may have been started by a relative path, from another folder.
    int file = open(image.dli_fname, O_RDONLY | O_CLOEXEC);
    if (file < 0) file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool found = false;
    if (!fstat(file, &status) && status.st_size > 0) {
        size_t length = (size_t)status.st_size;
        char *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            const char *mangled = symbol(bytes, length, address - (uintptr_t)image.dli_fbase);
            // Of the program's own functions only those of Swift are told.
            found = mangled && mangled[0] == '$' && swift_demangle(mangled, strlen(mangled), name, &size, 0);
            munmap(bytes, length);
        }
    }
    close(file);
    return found;
}
#endif
