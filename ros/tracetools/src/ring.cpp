#include "ring.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>

#include "gate.hpp"
#include "gid.h"

namespace takt::tracetools {

namespace ring = capture::ring;

namespace {

ring::Header unread_ring;

int ring_memory = -1;

// Held while a thread introduces itself or an object, and across a fork, so that the child finds it
// free.
std::mutex introductions;

/// A ring of this process, in memory that a recorder can map without fear that it shrinks under it.
ring::Header* make_ring() {
  ring_memory = memfd_create(ring::memory_name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (ring_memory < 0) {
    return nullptr;
  }
  void* memory = MAP_FAILED;
  if (ftruncate(ring_memory, ring::memory_size) == 0 &&
      fcntl(ring_memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    memory = mmap(nullptr, ring::memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring_memory, 0);
  }
  if (memory == MAP_FAILED) {
    close(ring_memory);
    ring_memory = -1;
    return nullptr;
  }
  ring::join_barrier();
  auto* header = new (memory) ring::Header;
  header->version = ring::version;
  header->gid_size = TAKT_GID_SIZE;
  header->fingerprint = capture::tracepoints::fingerprint();
  header->process = static_cast<std::uint32_t>(getpid());
  header->available = available_events();
  header->magic = ring::magic;
  return header;
}

/// A child made by fork has its parent's ring, which is not its to write. It gets its own when it
/// has an event to write; most children execute another program before that.
void leave_parents_ring() {
  if (process_ring != &unread_ring) {
    unread_ring.enabled = process_ring->enabled.load();
    munmap(process_ring, ring::memory_size);
    close(ring_memory);
    process_ring = &unread_ring;
    ++ring_generation;
  }
  introductions.unlock();
}

}  // namespace

ring::Header* process_ring = &unread_ring;
std::uint64_t ring_generation = 1;
thread_local constinit ThreadState this_thread;

void open_ring() {
  unread_ring.enabled = 0;
  if (ring::Header* made = make_ring()) {
    process_ring = made;
  }
  pass_gate(ring_memory);
}

ObjectEntry::ObjectEntry() {
  introductions.lock();
  has_log_ = process_ring != &unread_ring;
  pthread_getname_np(pthread_self(), name_.data(), name_.size());
}

ObjectEntry::~ObjectEntry() { introductions.unlock(); }

void introduce_thread() {
  const std::lock_guard lock(introductions);
  if (process_ring == &unread_ring) {
    open_ring();
  }
  const auto entry = std::min<std::uint32_t>(process_ring->threads.fetch_add(1),
                                             static_cast<std::uint32_t>(ring::thread_count));
  this_thread.writer = {static_cast<std::uint32_t>(gettid()), static_cast<std::uint8_t>(entry)};
  if (entry < ring::thread_count) {
    auto& introduction = process_ring->thread_table[entry];
    pthread_getname_np(pthread_self(), introduction.name.data(), introduction.name.size());
    introduction.id = this_thread.writer.thread;
  }
  this_thread.ring_generation = ring_generation;
}

namespace {

/// Runs when the library is loaded: after LTTng's own start, as that library is loaded before this
/// one, and before the program's code.
__attribute__((constructor)) void start() {
  pthread_atfork([] { introductions.lock(); }, [] { introductions.unlock(); }, leave_parents_ring);
  open_ring();
}

}  // namespace

}  // namespace takt::tracetools
