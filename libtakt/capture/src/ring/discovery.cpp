#include "discovery.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>

#include "../process.hpp"
#include "../regular_file.hpp"
#include "takt/base/capabilities.hpp"
#include "takt/capture/environment.hpp"

namespace takt::capture::ring {

using namespace std::chrono_literals;

namespace {

// Longer than a process waits at the gate of the recorder that started it.
constexpr auto search_interval = 3s;
// Looks take at most one part in so many of the time, however many files processes have open.
constexpr int search_rarity = 20;

struct Closes {
  void operator()(DIR* directory) const { closedir(directory); }
};

/// The process that writes a ring, as that process calls itself.
pid_t writer_of(int memory) {
  decltype(Header::process) writer = 0;
  const auto place = static_cast<off_t>(offsetof(Header, process));
  const bool told = pread(memory, &writer, sizeof writer, place) == sizeof writer;
  return told ? static_cast<pid_t>(writer) : 0;
}

}  // namespace

Descriptor ring_of(pid_t process) {
  static const auto memory = fmt::format("/memfd:{} (deleted)", memory_name);
  const auto directory = fmt::format("/proc/{}/fd", process);
  const std::unique_ptr<DIR, Closes> files(opendir(directory.c_str()));
  // A look goes through all files of the machine's processes, so it makes one call for each. They
  // come and go meanwhile.
  while (const dirent* file = files ? readdir(files.get()) : nullptr) {
    std::array<char, 64> link{};
    const ssize_t size = readlinkat(dirfd(files.get()), file->d_name, link.data(), link.size());
    if (size < 0 || std::string_view(link.data(), static_cast<std::size_t>(size)) != memory) {
      continue;
    }
    auto ring = open_regular_file(directory + "/" + file->d_name, O_RDWR);
    if (ring && writer_of(ring.get()) == own_number_of(process)) {
      return ring;
    }
  }
  return {};
}

Identity identity_of(const Descriptor& memory) {
  struct stat status {};
  return fstat(memory.get(), &status) == 0 ? Identity{status.st_dev, status.st_ino} : Identity{};
}

bool Unreadable::add(const Descriptor& memory) {
  if (known_.size() == most_known) {
    known_.clear();
  }
  return !memory || known_.insert(identity_of(memory)).second;
}

void for_each_ring(const std::function<void(pid_t, const Descriptor&)>& use) {
  std::set<Identity> known;
  const auto look_at = [&](pid_t process) {
    const auto memory = ring_of(process);
    if (memory && known.insert(identity_of(memory)).second) {
      use(process, memory);
    }
  };
  for_each_other_process(look_at);
  // A program may record itself (takt.testing); rings of others that it holds are not its own.
  look_at(getpid());
}

std::vector<std::pair<pid_t, Descriptor>> running_rings() {
  std::vector<std::pair<pid_t, Descriptor>> rings;
  for_each_ring([&](pid_t process, const Descriptor& memory) {
    rings.emplace_back(process, Descriptor(fcntl(memory.get(), F_DUPFD_CLOEXEC, 0)));
  });
  return rings;
}

Search::Search(Found found, std::uint64_t kept) : found_(std::move(found)) {
  look(true);
  late_ = 0;  // they were there first
  thread_ = std::jthread([this, kept](const std::stop_token& stop) { run(stop, kept); });
}

void Search::close() {
  thread_.request_stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Search::run(const std::stop_token& stop, std::uint64_t kept) {
  pthread_setname_np(pthread_self(), "takt-search");
  try_to_keep_only_capabilities(kept);
  std::chrono::steady_clock::duration pause = search_interval;
  std::unique_lock lock(looking_);
  while (!ended_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) {
    const auto begin = std::chrono::steady_clock::now();
    look(false);
    const auto took = std::chrono::steady_clock::now() - begin;
    pause = std::max<std::chrono::steady_clock::duration>(search_interval, took * search_rarity);
  }
}

void Search::look_now() {
  const std::scoped_lock lock(looking_);
  look(true);
}

void Search::look(bool at_new_ones) {
  std::map<Identity, Handed> seen;
  for_each_ring([&](pid_t process, const Descriptor& memory) {
    const auto ring = identity_of(memory);
    const auto before = seen_.find(ring);
    const bool is_known = before != seen_.end();
    if (is_known ? before->second == Handed::not_yet : at_new_ones) {
      late_ += found_(process, memory) ? 1U : 0U;
    }
    seen.emplace(ring, is_known || at_new_ones ? Handed::over : Handed::not_yet);
  });
  seen_ = std::move(seen);
}

Search::Found admitting(bool only_started, const Gate& gate, Search::Found admit) {
  if (!only_started) {
    return admit;
  }
  return [address = gate.address(), admit = std::move(admit)](pid_t process,
                                                              const Descriptor& memory) {
    return was_started_with(process, gate_variable, address) && admit(process, memory);
  };
}

Losses append_objects(const Mapping& mapping, std::uint64_t events, std::uint64_t since,
                      std::uint64_t until, ProcessSink& sink) {
  ObjectLog log(mapping);
  return append_objects(log, events, since, until, sink);
}

Losses append_objects(ObjectLog& log, std::uint64_t events, std::uint64_t since,
                      std::uint64_t until, ProcessSink& sink) {
  while (const auto event = log.next()) {
    if (event->time <= until && (events >> event->number & 1) != 0) {
      sink.append_object(std::max(event->time, since), event->thread, event->thread_name,
                         event->number, event->payload);
    }
  }
  sink.set_discarded_objects(log.dropped() + log.malformed());
  return {.discarded_events = log.dropped(), .malformed_events = log.malformed()};
}

}  // namespace takt::capture::ring
