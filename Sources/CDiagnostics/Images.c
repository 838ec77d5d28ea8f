#ifdef __linux__
// For dladdr.
#define _GNU_SOURCE
#include "Images.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern char *swift_demangle(const char *name, size_t length, char *output, size_t *size, uint32_t flags);

bool ecd_map(uintptr_t address, ecd_image *image) {
    Dl_info known;
    struct stat status;
    if (!dladdr((void *)address, &known) || !known.dli_fname) return false;
    // The main program may have been started by a relative path, from another folder.
    int file = open(known.dli_fname, O_RDONLY | O_CLOEXEC);
    if (file < 0) file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    void *bytes = MAP_FAILED;
    if (!fstat(file, &status) && status.st_size > 0) {
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    close(file);
    if (bytes == MAP_FAILED) return false;
    ecd_file_identity identity = {
        (uint64_t)status.st_dev, (uint64_t)status.st_ino, (uint64_t)status.st_size,
        (uint64_t)status.st_mtim.tv_sec, (uint64_t)status.st_mtim.tv_nsec};
    *image = (ecd_image){bytes, (size_t)status.st_size, identity, address - (uintptr_t)known.dli_fbase};
    return true;
}

void ecd_unmap(ecd_image image) { munmap((void *)image.file, image.length); }

// The sections of the file, and their names; false if it cannot be a file of the program.
static bool sections_of(ecd_image image, const Elf64_Shdr **sections, size_t *count, bytes *names) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)image.file;
    if (image.length < sizeof *header || memcmp(image.file, ELFMAG, SELFMAG)) return false;
    if (image.file[EI_CLASS] != ELFCLASS64 || header->e_shstrndx >= header->e_shnum) return false;
    *count = header->e_shnum;
    if (!is_inside(header->e_shoff, *count * sizeof(Elf64_Shdr), image.length)) return false;
    *sections = (const Elf64_Shdr *)(image.file + header->e_shoff);
    const Elf64_Shdr *texts = &(*sections)[header->e_shstrndx];
    if (!is_inside(texts->sh_offset, texts->sh_size, image.length)) return false;
    const uint8_t *start = (const uint8_t *)image.file + texts->sh_offset;
    *names = (bytes){start, start + texts->sh_size};
    return true;
}

bytes ecd_section(ecd_image image, const char *name) {
    const uint8_t *file = (const uint8_t *)image.file;
    const Elf64_Shdr *sections;
    size_t count;
    bytes names;
    if (!sections_of(image, &sections, &count, &names)) return (bytes){file, file};
    for (size_t i = 0; i < count; i++) {
        const Elf64_Shdr *one = &sections[i];
        if (strcmp(text_at(names, one->sh_name), name) || one->sh_flags & SHF_COMPRESSED) continue;
        if (one->sh_type == SHT_NOBITS || !is_inside(one->sh_offset, one->sh_size, image.length)) continue;
        return (bytes){file + one->sh_offset, file + one->sh_offset + one->sh_size};
    }
    return (bytes){file, file};
}

// Functions that no other file calls are only in the file's symbol table, which dladdr does not
// read.
static const char *symbol_of(ecd_image image, unsigned kind, uintptr_t *start) {
    const char *file = image.file;
    const Elf64_Shdr *sections;
    size_t count, size = image.length;
    bytes texts;
    if (!sections_of(image, &sections, &count, &texts)) return NULL;
    for (size_t i = 0; i < count; i++) {
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= count) continue;
        const Elf64_Shdr names = sections[sections[i].sh_link];
        if (!is_inside(sections[i].sh_offset, sections[i].sh_size, size)) continue;
        // The last name ends with the table.
        if (!names.sh_size || !is_inside(names.sh_offset, names.sh_size, size)) continue;
        if (file[names.sh_offset + names.sh_size - 1]) continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(file + sections[i].sh_offset);
        for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++) {
            Elf64_Sym entry = symbols[k];
            if (ELF64_ST_TYPE(entry.st_info) != kind) continue;
            if (image.offset - entry.st_value >= entry.st_size) continue;
            if (entry.st_name >= names.sh_size) continue;
            *start = entry.st_value;
            return file + names.sh_offset + entry.st_name;
        }
    }
    return NULL;
}

const char *ecd_symbol(ecd_image image, uintptr_t *start) { return symbol_of(image, STT_FUNC, start); }

static bool find(uintptr_t address, unsigned kind, char *name, size_t size) {
    ecd_image image;
    uintptr_t start;
    if (!ecd_map(address, &image)) return false;
    const char *symbol = symbol_of(image, kind, &start);
    // Only what is written in Swift is reported.
    bool found = symbol && symbol[0] == '$' && swift_demangle(symbol, strlen(symbol), name, &size, 0);
    ecd_unmap(image);
    return found;
}

bool ecd_function(uintptr_t address, char *name, size_t size) { return find(address, STT_FUNC, name, size); }
bool ecd_variable(uintptr_t address, char *name, size_t size) { return find(address, STT_OBJECT, name, size); }

bool ecd_is_made_by_compiler(uintptr_t address) {
    ecd_image image;
    uintptr_t start;
    if (!ecd_map(address, &image)) return false;
    const char *symbol = ecd_symbol(image, &start);
    bool is_made = symbol && ecd_finds_metadata(symbol);
    ecd_unmap(image);
    return is_made;
}
#endif
