#ifdef __linux__
#include "Lines.h"

#include <stdatomic.h>
#include <stdlib.h>

// Reading a whole table takes a tenth of a second in a large program, and a failure needs the lines
// of dozens of addresses. So each table is read completely, once.

// The indexes of this process. One that is in the list stays there, and does not change.
static _Atomic(ecd_line_index *) indexes;

static ecd_line_index *make_index(ecd_image image, bytes table) {
    const uint8_t *start = table.next;
    size_t room = 1024, count = 0;
    ecd_line_index *index = malloc(sizeof *index + room * sizeof(ecd_sequence));
    if (!index) return NULL;
    while (table.next < table.end) {
        uint64_t offset = (uint64_t)(table.next - start), low = UINT64_MAX;
        size_t offset_size;
        bytes in = unit(&table, &offset_size);
        ecd_line_rows rows;
        if (!ecd_read_rows(in, offset_size, &rows)) continue;
        while (ecd_next_row(&rows)) {
            if (rows.address < low) low = rows.address;
            if (!rows.ends) continue;
            if (count == room) {
                room *= 2;
                ecd_line_index *larger = realloc(index, sizeof *index + room * sizeof(ecd_sequence));
                if (!larger) return free(index), NULL;
                index = larger;
            }
            index->sequences[count++] = (ecd_sequence){low, rows.address, offset};
            low = UINT64_MAX;
        }
    }
    index->identity = image.identity;
    index->count = count;
    return index;
}

const ecd_line_index *ecd_index_of(ecd_image image, bytes table) {
    // Acquiring: the writes of the thread that created an index are visible.
    ecd_line_index *first = atomic_load_explicit(&indexes, memory_order_acquire);
    for (ecd_line_index *index = first; index; index = index->next) {
        if (!memcmp(&index->identity, &image.identity, sizeof image.identity)) return index;
    }
    // Two threads may create an index of the same file. Then both stay, and the later one is found.
    ecd_line_index *made = make_index(image, table);
    if (!made) return NULL;
    made->next = first;
    // Releasing, for the acquiring load above. That load also sees the earlier indexes: an exchange
    // continues the release sequence. A failing exchange only loads the value of `next`.
    while (!atomic_compare_exchange_weak_explicit(
        &indexes, &made->next, made, memory_order_release, memory_order_relaxed));
    return made;
}
#endif
