/// Counts the allocations of the program it is loaded into with LD_PRELOAD.
///
/// The number lies in the file that NETSPOOL_ALLOCATIONS names, eight bytes, mapped and shared: so it is right however
/// the program ends. What was allocated before the file is mapped is not in it, nor does the counting itself allocate.
/// A realloc counts, as it may move; a free does not. For glibc, whose own names of the functions it calls.
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static _Atomic uint64_t unmapped;
static _Atomic uint64_t *counter = &unmapped;

static void count(void) { atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); }

__attribute__((constructor)) static void map_counter(void) {
  const char *path = getenv("NETSPOOL_ALLOCATIONS");
  int descriptor = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (descriptor < 0) return;
  void *page = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (page != MAP_FAILED) counter = page;
}

void *malloc(size_t bytes) {
  count();
  return __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes) {
  count();
  return __libc_calloc(number, bytes);
}

void *realloc(void *memory, size_t bytes) {
  count();
  return __libc_realloc(memory, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void *found = memalign(alignment, bytes);
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}
