// Counts the program's own calls of the Swift runtime: while it counts, the program's calls of
// these functions go through functions of this file. It replaces the addresses that the dynamic
// linker stored in the program, which its relocations list.
#define _GNU_SOURCE
#include "CountReferences.h"

#if defined(__linux__) && defined(__x86_64__)

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *(*function)(void *, uintptr_t, uintptr_t);

static __thread reference_counts counted;
static __thread bool counts_here;

enum { ALLOC, RETAIN, RELEASE, BRIDGE_RETAIN, BRIDGE_RELEASE, FUNCTIONS };
static function real[FUNCTIONS];

static void *count_alloc(void *type, uintptr_t size, uintptr_t mask) {
    counted.objects += counts_here;
    return real[ALLOC](type, size, mask);
}

// The other functions have one parameter, and preserve the registers of the others.
#define COUNTING(name, index)                                                                      \
    static void *name(void *object, uintptr_t second, uintptr_t third) {                           \
        counted.counts += counts_here;                                                             \
        return real[index](object, second, third);                                                 \
    }
COUNTING(count_retain, RETAIN)
COUNTING(count_release, RELEASE)
COUNTING(count_bridge_retain, BRIDGE_RETAIN)
COUNTING(count_bridge_release, BRIDGE_RELEASE)

static const struct {
    const char *name;
    function counting;
} functions[FUNCTIONS] = {
    [ALLOC] = {"swift_allocObject", count_alloc},
    [RETAIN] = {"swift_retain", count_retain},
    [RELEASE] = {"swift_release", count_release},
    [BRIDGE_RETAIN] = {"swift_bridgeObjectRetain", count_bridge_retain},
    [BRIDGE_RELEASE] = {"swift_bridgeObjectRelease", count_bridge_release},
};

/// Puts the counting functions into the program's table, or the runtime's own back into it.
static void redirect(bool counts, const ElfW(Rela) *relocation, size_t size,
                     const ElfW(Sym) *symbols, const char *strings, ElfW(Addr) base) {
    const ElfW(Rela) *end = (const ElfW(Rela) *)((const char *)relocation + size);
    for (; relocation && relocation < end; relocation++) {
        unsigned long kind = ELF64_R_TYPE(relocation->r_info);
        if (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT) continue;
        const char *name = strings + symbols[ELF64_R_SYM(relocation->r_info)].st_name;
        for (int index = 0; index < FUNCTIONS; index++) {
            if (strcmp(name, functions[index].name) != 0) continue;
            function *slot = (function *)(base + relocation->r_offset);
            uintptr_t page = (uintptr_t)slot & ~(uintptr_t)(getpagesize() - 1);
            // The linker may have made the table read-only.
            if (mprotect((void *)page, getpagesize(), PROT_READ | PROT_WRITE) != 0) continue;
            __atomic_store_n(slot, counts ? functions[index].counting : real[index],
                             __ATOMIC_RELEASE);
        }
    }
}

/// Visits the first object, which is the program, and ends.
static int visit(struct dl_phdr_info *info, size_t size, void *counts) {
    const ElfW(Rela) *plain = NULL, *jumps = NULL;
    size_t plain_size = 0, jumps_size = 0;
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        if (info->dlpi_phdr[index].p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[index].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            switch (entry->d_tag) {
            case DT_RELA: plain = (const ElfW(Rela) *)entry->d_un.d_ptr; break;
            case DT_RELASZ: plain_size = entry->d_un.d_val; break;
            case DT_JMPREL: jumps = (const ElfW(Rela) *)entry->d_un.d_ptr; break;
            case DT_PLTRELSZ: jumps_size = entry->d_un.d_val; break;
            case DT_SYMTAB: symbols = (const ElfW(Sym) *)entry->d_un.d_ptr; break;
            case DT_STRTAB: strings = (const char *)entry->d_un.d_ptr; break;
            default: break;
            }
        }
    }
    if (!symbols || !strings) return 1;
    redirect(*(bool *)counts, plain, plain_size, symbols, strings, info->dlpi_addr);
    redirect(*(bool *)counts, jumps, jumps_size, symbols, strings, info->dlpi_addr);
    return 1;
}

bool count_references_begin(void) {
    for (int index = 0; index < FUNCTIONS; index++) {
        if (!real[index]) real[index] = (function)dlsym(RTLD_DEFAULT, functions[index].name);
        if (!real[index]) return false;
    }
    bool counts = true;
    dl_iterate_phdr(visit, &counts);
    counted = (reference_counts){0, 0};
    counts_here = true;
    return true;
}

reference_counts count_references_end(void) {
    counts_here = false;
    bool counts = false;
    dl_iterate_phdr(visit, &counts);
    return counted;
}

#else

bool count_references_begin(void) { return false; }

reference_counts count_references_end(void) { return (reference_counts){0, 0}; }

#endif
