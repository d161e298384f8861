#include "discovery.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#include "takt/capture/ring/object_log.hpp"

namespace takt::capture::ring {

namespace fs = std::filesystem;

Descriptor ring_of(pid_t process) {
  const auto memory = fmt::format("/memfd:{} (deleted)", memory_name);
  std::error_code gone;  // processes and their files come and go
  for (auto file = fs::directory_iterator(fmt::format("/proc/{}/fd", process), gone);
       !gone && file != fs::directory_iterator(); file.increment(gone)) {
    std::error_code closed;
    if (fs::read_symlink(file->path(), closed) == memory) {
      return Descriptor(open(file->path().c_str(), O_RDWR | O_CLOEXEC));
    }
  }
  return {};
}

std::vector<std::pair<pid_t, Descriptor>> running_rings() {
  std::vector<std::pair<pid_t, Descriptor>> rings;
  std::error_code gone;
  for (auto process = fs::directory_iterator("/proc", gone); process != fs::directory_iterator();
       process.increment(gone)) {
    const std::string number = process->path().filename();
    pid_t pid = 0;
    std::from_chars(number.data(), number.data() + number.size(), pid);
    if (pid <= 0) {
      continue;
    }
    if (auto memory = ring_of(pid)) {
      rings.emplace_back(pid, std::move(memory));
    }
  }
  return rings;
}

void append_objects(const Mapping& mapping, std::uint64_t events, std::uint64_t since,
                    std::uint64_t until, ctf::ProcessTrace& trace) {
  ObjectLog log(mapping);
  while (const auto event = log.next()) {
    if (event->time <= until && (events >> event->number & 1) != 0) {
      trace.append_object(std::max(event->time, since), event->thread, event->thread_name,
                          event->number, event->payload);
    }
  }
}

}  // namespace takt::capture::ring
