#include "ring.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>

#include "gate.hpp"
#include "gid.h"
#include "left_out.hpp"
#include "lttng.hpp"

namespace takt::tracetools {

namespace ring = capture::ring;

namespace {

ring::Header unread_ring;

// The part of the object log that can be accessed grows by this much. If the whole log were usable
// at once, a program that locks its memory would pay for all of its 32 MiB.
constexpr std::size_t log_piece = std::size_t{256} << 10;

/// The file of the ring, by which recorders find it. A program that closes all its descriptors may
/// have closed it, and may have opened another file under the same number.
struct Memory {
  int descriptor = -1;
  dev_t device = 0;
  ino_t inode = 0;

  [[nodiscard]] bool is_ours() const {
    struct stat status {};
    return fstat(descriptor, &status) == 0 && status.st_dev == device && status.st_ino == inode;
  }
  void close_ours() {
    if (is_ours()) {
      close(descriptor);
    }
    descriptor = -1;
  }
};
Memory ring_memory;
std::uint64_t ring_slots = ring::slot_count;
std::size_t log_usable = 0;               // bytes
std::uint64_t opened_for_generation = 0;  // so that a process without descriptors tries once

// Held while a thread introduces itself or an object, and across a fork, so that the child finds it
// free. A signal handler may run while its own thread holds it.
std::mutex introductions;

bool lock_introductions() {
  if (this_thread.introducing) {
    return false;
  }
  this_thread.introducing = true;
  introductions.lock();
  return true;
}

void unlock_introductions() {
  introductions.unlock();
  this_thread.introducing = false;
}

class Introduction {
 public:
  Introduction() : locked_(lock_introductions()) {}
  Introduction(const Introduction&) = delete;
  Introduction& operator=(const Introduction&) = delete;
  ~Introduction() {
    if (locked_) {
      unlock_introductions();
    }
  }
  /// False: this is a signal handler that interrupts an introduction.
  explicit operator bool() const { return locked_; }

 private:
  bool locked_;
};

/// Makes the file of the ring. A program whose standard output is closed would write what it prints
/// into a file that had its number.
int make_memory() {
  const int made = memfd_create(ring::memory_name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0 || made > STDERR_FILENO) {
    return made;
  }
  const int beyond_standard_streams = fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(made);
  return beyond_standard_streams;
}

/// How many slots the recorder that started this process wants it to have.
std::uint64_t wanted_slots() {
  const char* const variable = std::getenv(capture::buffer_variable);
  const std::string_view text = variable != nullptr ? variable : "";
  std::uint64_t bytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (bytes == 0) return ring::slot_count;
  return std::bit_ceil(
      std::clamp(bytes / ring::slot_size, ring::least_slot_count, ring::most_slot_count));
}

/// Makes the ring of this process, in memory that cannot shrink while a recorder has it mapped.
/// Null if it cannot be made.
ring::Header* make_ring() {
  ring_memory = {make_memory()};
  struct stat status {};
  if (ring_memory.descriptor < 0 || fstat(ring_memory.descriptor, &status) != 0) {
    return nullptr;
  }
  ring_memory.device = status.st_dev;
  ring_memory.inode = status.st_ino;
  void* place = MAP_FAILED;
  ring_slots = wanted_slots();
  const std::size_t size = ring::memory_size(ring_slots);
  if (ftruncate(ring_memory.descriptor, static_cast<off_t>(size)) == 0 &&
      fcntl(ring_memory.descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    // As a whole: later, the program may have closed the descriptor.
    place = mmap(nullptr, size, PROT_NONE, MAP_SHARED, ring_memory.descriptor, 0);
  }
  if (place == MAP_FAILED ||
      mprotect(place, ring::log_offset(ring_slots), PROT_READ | PROT_WRITE) != 0) {
    if (place != MAP_FAILED) {
      munmap(place, size);
    }
    ring_memory.close_ours();
    ring_slots = ring::slot_count;
    return nullptr;
  }
  log_usable = 0;
  auto* header = new (place) ring::Header;
  header->version = ring::version;
  header->gid_size = TAKT_GID_SIZE;
  header->fingerprint = tracepoints::fingerprint();
  header->process = static_cast<std::uint32_t>(getpid());
  header->lttng = loaded_lttng() != nullptr ? ring::LttngIs::present : ring::LttngIs::absent;
  header->available = available_events();
  hand_on_selection(*header);
  header->magic = ring::magic;
  return header;
}

/// Makes the ring and offers it to the recorder that started this process, if one did. `inherited`:
/// the events that the parent's recorder wants, if this process is a child made by fork; else 0.
void open_ring(Waiting waiting, std::uint64_t inherited) {
  opened_for_generation = ring_generation;
  unread_ring.enabled = 0;
  ring::Header* made = make_ring();
  if (made != nullptr) {
    if (inherited != 0) {
      made->recording = 1;
      made->inherited = 1;
      made->enabled = inherited;
    }
    process_ring = made;
    load_lttng_when_asked(&made->lttng_asked, &made->lttng);
  }
  if (!pass_gate(ring_memory.descriptor, waiting) && made != nullptr && inherited != 0) {
    made->enabled = 0;
    made->inherited = 0;
  }
}

// Whether the handlers of the fork have locked the introductions. They have not if a signal handler
// forks while its own thread introduces something.
thread_local constinit bool locked_for_fork = false;

}  // namespace

std::atomic<ring::Header*> process_ring = &unread_ring;
std::atomic<std::uint64_t> ring_generation = 1;
thread_local constinit ThreadState this_thread;

bool reach_into_log(std::size_t end) {
  if (end <= log_usable) {
    return true;
  }
  const auto wanted = (end + log_piece - 1) / log_piece * log_piece;
  auto* log = reinterpret_cast<std::byte*>(process_ring.load()) + ring::log_offset(ring_slots);
  if (wanted > ring::log_capacity ||
      mprotect(log + log_usable, wanted - log_usable, PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  log_usable = wanted;
  return true;
}

ObjectEntry::ObjectEntry() : interrupting_(!lock_introductions()) {
  has_log_ = process_ring != &unread_ring;
  pthread_getname_np(pthread_self(), name_.data(), name_.size());
}

ObjectEntry::~ObjectEntry() {
  if (!interrupting_) {
    unlock_introductions();
  }
}

std::uint64_t slots_of_ring() { return ring_slots; }

void note_logged_object() {
  if (selects || ring_in_use().selection != selection_in_force) update_selection_locked();
}

void update_selection() {
  // A signal handler that interrupts an introduction goes by what was decided before.
  if (const Introduction lock; lock) update_selection_locked();
}

void introduce_thread() {
  const auto thread = static_cast<std::uint32_t>(gettid());
  const Introduction lock;
  if (!lock) {  // in a signal handler; this identity is for one event alone
    this_thread.writer = {thread, static_cast<std::uint8_t>(ring::thread_count), ring_slots};
    return;
  }
  if (process_ring == &unread_ring && opened_for_generation != ring_generation) {
    open_ring(Waiting::not_at_all, unread_ring.enabled);
  }
  ring::Header& ring = *process_ring;
  const auto entry = std::min<std::uint32_t>(ring.threads.fetch_add(1),
                                             static_cast<std::uint32_t>(ring::thread_count));
  if (entry < ring::thread_count) {
    auto& introduction = ring.thread_table[entry];
    pthread_getname_np(pthread_self(), introduction.name.data(), introduction.name.size());
    introduction.id = thread;
  }
  this_thread.writer = {thread, static_cast<std::uint8_t>(entry), ring_slots};
  this_thread.ring_generation = ring_generation;
}

void open_ring_of_process() {
  const Introduction lock;
  // A signal handler that interrupted the start has made it otherwise.
  if (lock && process_ring == &unread_ring) {
    open_ring(Waiting::until_admitted, 0);
  }
}

void lock_ring_for_fork() { locked_for_fork = lock_introductions(); }

void unlock_ring_after_fork() {
  if (locked_for_fork) {
    unlock_introductions();
  }
}

void leave_parents_ring() {
  ring::Header* parents = process_ring;
  if (parents != &unread_ring) {
    unread_ring.enabled = parents->enabled.load();
    unread_ring.selection = parents->selection.load();
    process_ring = &unread_ring;
    load_lttng_when_asked(nullptr, nullptr);
    munmap(parents, ring::memory_size(ring_slots));
    ring_slots = ring::slot_count;
    ring_memory.close_ours();
    ++ring_generation;
  }
}

}  // namespace takt::tracetools
