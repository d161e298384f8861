// Preloaded, it writes what a program allocates: a line for each block of TAKT_ALLOCATIONS_FROM
// bytes or more, with a number that no other block has at the time, and its bytes; when the block
// is released the same number, and 0. To the file TAKT_ALLOCATIONS, which the first process with
// this variable takes. It calls nothing that allocates.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t);                 // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t, std::size_t);    // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void*, std::size_t);         // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT(bugprone-reserved-identifier)
void __libc_free(void*);                          // NOLINT(bugprone-reserved-identifier)
}

namespace {

constexpr std::size_t most_blocks = 65'536;

/// One thread at a time.
class Turn {
 public:
  Turn() {
    while (taken_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Turn() { taken_.clear(std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  Turn(Turn&&) = delete;
  Turn& operator=(Turn&&) = delete;

 private:
  static inline std::atomic_flag taken_ = ATOMIC_FLAG_INIT;
};

struct Recorder {
  int file = -2;  // not looked for yet
  std::size_t from = 0;
  std::array<void*, most_blocks> blocks{};  // by their numbers
  std::size_t used = 0;                     // numbers that were ever used
};

Recorder recorder;

void open_file() {
  recorder.file = -1;
  const char* const path = std::getenv("TAKT_ALLOCATIONS");
  const char* const from = std::getenv("TAKT_ALLOCATIONS_FROM");
  if (path == nullptr) return;
  recorder.from = from == nullptr ? 4096 : std::strtoul(from, nullptr, 10);
  recorder.file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

void write_line(std::size_t number, std::size_t bytes) {
  std::array<char, 64> line{};
  char* end = std::to_chars(line.data(), line.data() + 24, number).ptr;
  *end++ = ' ';
  end = std::to_chars(end, end + 24, bytes).ptr;
  *end++ = '\n';
  const int problem = errno;
  if (write(recorder.file, line.data(), static_cast<std::size_t>(end - line.data())) < 0) {
    recorder.file = -1;
  }
  errno = problem;
}

void* note(void* block, std::size_t bytes) {
  if (block == nullptr) return block;
  const Turn turn;
  if (recorder.file == -2) open_file();
  if (recorder.file < 0 || bytes < recorder.from) return block;
  std::size_t number = 0;
  while (number < recorder.used && recorder.blocks[number] != nullptr) ++number;
  if (number == most_blocks) return block;
  recorder.used = number == recorder.used ? number + 1 : recorder.used;
  recorder.blocks[number] = block;
  write_line(number, bytes);
  return block;
}

/// Before it is released, as another thread may have it next.
void forget(void* block) {
  if (block == nullptr) return;
  const Turn turn;
  if (recorder.file < 0) return;
  for (std::size_t number = 0; number < recorder.used; ++number) {
    if (recorder.blocks[number] != block) continue;
    recorder.blocks[number] = nullptr;
    write_line(number, 0);
    return;
  }
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) { return note(__libc_malloc(bytes), bytes); }

void* calloc(std::size_t count, std::size_t bytes) {
  return note(__libc_calloc(count, bytes), count * bytes);
}

void* realloc(void* block, std::size_t bytes) {
  forget(block);
  return note(__libc_realloc(block, bytes), bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  return note(__libc_memalign(alignment, bytes), bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

void free(void* block) {
  forget(block);
  __libc_free(block);
}
}
