#include "discovery.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <system_error>

#include "../process.hpp"
#include "../regular_file.hpp"
#include "takt/capture/ring/object_log.hpp"

namespace takt::capture::ring {

namespace fs = std::filesystem;

namespace {

/// The process that writes a ring, as that process calls itself.
pid_t writer_of(int memory) {
  decltype(Header::process) writer = 0;
  const auto place = static_cast<off_t>(offsetof(Header, process));
  const bool told = pread(memory, &writer, sizeof writer, place) == sizeof writer;
  return told ? static_cast<pid_t>(writer) : 0;
}

}  // namespace

Descriptor ring_of(pid_t process) {
  const auto memory = fmt::format("/memfd:{} (deleted)", memory_name);
  const pid_t own_number = own_number_of(process);
  std::error_code gone;  // processes and their files come and go
  for (auto file = fs::directory_iterator(fmt::format("/proc/{}/fd", process), gone);
       !gone && file != fs::directory_iterator(); file.increment(gone)) {
    std::error_code closed;
    if (fs::read_symlink(file->path(), closed) != memory) {
      continue;
    }
    auto ring = open_regular_file(file->path(), O_RDWR);
    if (ring && writer_of(ring.get()) == own_number) {
      return ring;
    }
  }
  return {};
}

std::vector<std::pair<pid_t, Descriptor>> running_rings() {
  std::vector<std::pair<pid_t, Descriptor>> rings;
  std::set<std::pair<dev_t, ino_t>> known;
  const auto add = [&](pid_t process) {
    auto memory = ring_of(process);
    struct stat status {};
    if (memory && fstat(memory.get(), &status) == 0 &&
        known.emplace(status.st_dev, status.st_ino).second) {
      rings.emplace_back(process, std::move(memory));
    }
  };
  for_each_other_process(add);
  // A program may record itself (takt.testing); rings of others that it holds are not its own.
  add(getpid());
  return rings;
}

Losses append_objects(const Mapping& mapping, std::uint64_t events, std::uint64_t since,
                      std::uint64_t until, ctf::ProcessTrace& trace) {
  ObjectLog log(mapping);
  while (const auto event = log.next()) {
    if (event->time <= until && (events >> event->number & 1) != 0) {
      trace.append_object(std::max(event->time, since), event->thread, event->thread_name,
                          event->number, event->payload);
    }
  }
  trace.set_discarded_objects(log.dropped() + log.malformed());
  return {.discarded_events = log.dropped(), .malformed_events = log.malformed()};
}

}  // namespace takt::capture::ring
