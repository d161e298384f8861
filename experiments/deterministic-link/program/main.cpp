/// link_experiment send|receive takt|shared|rdma|direct|tcp|udp LOCAL REMOTE CHUNK_BYTES BURST
/// STREAM... with STREAM as priority:bytes:count:interval in microseconds. Prints what arrived; who
/// sends by takt, shared or rdma: how many messages of each stream were delivered, rejected, lost
/// and dropped. link_experiment watch
#include <fmt/format.h>
#include <sys/mman.h>

#include <charconv>
#include <cstdio>
#include <string_view>

#include "traffic.hpp"

namespace {

using namespace takt::deterministic_link;

template <typename Integer>
bool read(std::string_view text, Integer& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc{} && end == text.data() + text.size();
}

bool read_stream(std::string_view text, Stream& stream) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
  }
  std::int64_t interval = 0;
  if (parts.size() != 4 || !read(parts[0], stream.priority) || !read(parts[1], stream.bytes) ||
      !read(parts[2], stream.count) || !read(parts[3], interval)) {
    return false;
  }
  stream.interval = std::chrono::microseconds(interval);
  return true;
}

/// Shared memory and RDMA are other connections below the same flow control.
bool by_takt(const Traffic& traffic) {
  return traffic.method == "takt" || traffic.method == "shared" || traffic.method == "rdma";
}

std::string send(const Traffic& traffic) {
  if (by_takt(traffic)) return send_by_takt(traffic);
  return traffic.method == "direct" ? send_directly(traffic) : send_plainly(traffic);
}

std::string receive(const Traffic& traffic, Arrivals& arrivals) {
  if (by_takt(traffic)) return receive_by_takt(traffic, arrivals);
  return traffic.method == "direct" ? receive_directly(traffic, arrivals)
                                    : receive_plainly(traffic, arrivals);
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  if (given == std::vector<std::string>{"watch"}) {
    Arrivals stalls;
    watch_machine(stalls);
    stalls.print();
    return 0;
  }
  // Otherwise the kernel would load pages in the middle of a measurement, which takes time.
  mlockall(MCL_CURRENT | MCL_FUTURE);
  Traffic traffic;
  bool understood =
      given.size() > 6 && read(given[4], traffic.chunk_bytes) && read(given[5], traffic.burst);
  for (std::size_t i = 6; understood && i < given.size(); ++i) {
    understood = read_stream(given[i], traffic.streams.emplace_back());
  }
  if (!understood) {
    fmt::print(
        stderr,
        "usage: link_experiment send|receive takt|shared|rdma|direct|tcp|udp LOCAL REMOTE "
        "CHUNK_BYTES BURST PRIORITY:BYTES:COUNT:INTERVAL...\n       link_experiment watch\n");
    return 2;
  }
  traffic.method = given[1];
  traffic.local = given[2];
  traffic.remote = given[3];
  Arrivals arrivals;
  const std::string wrong = given[0] == "send" ? send(traffic) : receive(traffic, arrivals);
  arrivals.print();
  if (!wrong.empty()) fmt::print(stderr, "link_experiment: {}\n", wrong);
  return wrong.empty() ? 0 : 1;
}
