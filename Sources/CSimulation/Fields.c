#ifdef __linux__
#include "Interposition.h"

// The names of stored properties, as the compiler describes each class for reflection.

// A pointer to a class at the start of an object, and what is read of the class: a kind, the
// superclass, and after the sizes the description.
enum { superclass_at = 1, description_at = 5, word_count };
// The description: flags with the kind of type, the name, the fields, how many there are, and where
// the class has their offsets.
enum { flags_at, name_at = 2, fields_at = 4, field_count_at = 9, offsets_at = 10, part_count };
enum { kind_of_class = 16, kind_mask = 31, inherits_resilience = 1 << 29 };
// Of the fields: where their size and their count are, how many bytes precede the first one, and
// where its name is.
enum { sizes_at = 8, first_field = 16, field_size = 12, field_name = 8 };
enum { most_superclasses = 8, most_fields = 1000 };

static bool is_object(uintptr_t metadata) {
    uintptr_t words[word_count];
    uint32_t flags;
    return metadata && metadata % sizeof metadata == 0 && ecs_read((const void *)metadata, words, sizeof words)
        && !words[0] && words[description_at] && words[description_at] % 4 == 0
        && ecs_read((const void *)words[description_at], &flags, sizeof flags)
        && (flags & kind_mask) == kind_of_class;
}

// What a pointer leads to that is relative to its own address.
static const char *follow(uintptr_t pointer, int32_t distance) {
    return (const char *)(pointer + (uintptr_t)(intptr_t)distance);
}

bool ecs_field(const void *address, const char **type, const char **field) {
    size_t size;
    uintptr_t object = (uintptr_t)ecs_block(address, is_object, &size), metadata, words[word_count];
    if (!object || !ecs_read((const void *)object, &metadata, sizeof metadata)) return false;
    uintptr_t distance = (uintptr_t)address - object, nearest = 0;
    for (int depth = 0; depth < most_superclasses && is_object(metadata); depth++) {
        if (!ecs_read((const void *)metadata, words, sizeof words)) return false;
        uintptr_t description = words[description_at], offset;
        uint32_t parts[part_count];
        if (!ecs_read((const void *)description, parts, sizeof parts)) return false;
        if (parts[flags_at] & inherits_resilience || parts[field_count_at] > most_fields) return false;
        // Without reflection there are none.
        if (!parts[fields_at] && parts[field_count_at]) return false;
        uintptr_t fields = description + 4 * fields_at + (uintptr_t)(intptr_t)(int32_t)parts[fields_at];
        uint32_t sizes[2];
        if (parts[field_count_at] && (!ecs_read((const void *)(fields + sizes_at), sizes, sizeof sizes)
            || sizes[0] >> 16 != field_size || sizes[1] != parts[field_count_at])) return false;
        for (uint32_t i = 0; i < parts[field_count_at]; i++) {
            uintptr_t at = metadata + sizeof at * (parts[offsets_at] + i), name = fields + first_field + field_size * i + field_name;
            int32_t to_name;
            if (!ecs_read((const void *)at, &offset, sizeof offset) || offset > distance || offset < nearest) continue;
            if (!ecs_read((const void *)name, &to_name, sizeof to_name)) return false;
            nearest = offset;
            *field = follow(name, to_name);
            *type = follow(description + 4 * name_at, (int32_t)parts[name_at]);
        }
        metadata = words[superclass_at];
    }
    return nearest;
}
#endif
