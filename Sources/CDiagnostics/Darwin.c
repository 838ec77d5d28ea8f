#if defined(__APPLE__)
#include "Images.h"

#include <dlfcn.h>
#include <string.h>

extern char *swift_demangle(const char *name, size_t length, char *output, size_t *size, uint32_t flags);

bool ecd_function(uintptr_t address, char *name, size_t size) {
    Dl_info image;
    if (!dladdr((void *)address, &image) || !image.dli_sname) return false;
    return swift_demangle(image.dli_sname, strlen(image.dli_sname), name, &size, 0) != NULL;
}

bool ecd_variable(uintptr_t address, char *name, size_t size) {
    (void)address, (void)name, (void)size;
    return false;
}

bool ecd_is_made_by_compiler(uintptr_t address) {
    Dl_info image;
    return dladdr((void *)address, &image) && image.dli_sname && ecd_finds_metadata(image.dli_sname);
}

// The lines of a program are not in its own file.
uint64_t ecd_line(uintptr_t address, char *path, size_t size) {
    (void)address, (void)size;
    path[0] = 0;
    return 0;
}

uint64_t ecd_declaration(uintptr_t address, char *path, size_t size) { return ecd_line(address, path, size); }
#endif
