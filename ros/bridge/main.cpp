// takt-bridge: carries topics of ROS 2 to other hosts and back. People use `takt bridge`, which
// starts it:
//
//   takt-bridge FILE HOST PRIORITY      PRIORITY under SCHED_FIFO; 0: scheduled as who starts it
//
// It writes JSON objects, one a line: {"event": "started", …}, {"event": "peer", …} when a peer is
// connected or lost, {"event": "notice", "text": …}, and {"event": "stopped", …} with what went
// through at its end, which the end of its standard input, SIGINT or SIGTERM bring about. Errors
// are one line on standard error and exit status 2.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "bridge.hpp"
#include "takt/base/json_text.hpp"
#include "takt/base/try.hpp"
#include "takt/executor/thread_settings.hpp"
#include "takt/linux/ending.hpp"
#include "takt/linux/memory.hpp"

namespace takt::bridge {
namespace {

using nlohmann::json;

constexpr std::size_t largest_file = std::size_t{1} << 20;
constexpr int most_priority = 99;

void say(const json& line) {
  fmt::print("{}\n", json_text(line));
  std::fflush(stdout);
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // One byte more, so that the parser sees that it is too large.
  std::string text(largest_file + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.eof() && !file) return error("{}: cannot be read", path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// Schedules the calling thread under SCHED_FIFO; 0: does nothing. Returns why the kernel refuses,
/// if it does.
std::optional<std::string> schedule(int priority) {
  if (priority == 0) return std::nullopt;
  // If the kernel does not allow it, page faults remain.
  (void)linux_os::keep_memory();
  const Result<void> applied =
      executor::apply({.scheduling = linux_os::FifoScheduling{.priority = priority}});
  return applied ? std::nullopt : std::optional(applied.error().message);
}

Result<void> main(const std::string& path, const std::string& host_name, int priority) {
  const std::string text = TAKT_TRY(read_file(path));
  const Configuration configuration = TAKT_TRY(parse(text, path));
  const std::size_t host = TAKT_TRY(find_host(configuration, host_name, path));
  const transport::Key key = TAKT_TRY(transport::read_key(
      (std::filesystem::path(path).parent_path() / configuration.key).string()));
  std::atomic<bool> stop = false;
  const linux_os::Ending ending(stop);
  // Before other threads are made: they inherit it.
  const std::optional<std::string> refusal = schedule(priority);
  const auto bridge = Bridge::create(configuration, host, key, say);
  if (!bridge) return error("{}: {}", path, bridge.error().message);
  if (priority > 0 && !refusal) {
    // Above the threads that copy messages: otherwise an urgent message would wait while a long one
    // is copied. A process that may have one of these priorities may have the other.
    (void)(*bridge)->use_fifo(std::min(priority + 1, most_priority));
  }
  const auto& blocking = configuration.link.blocking;
  say({{"event", "started"},
       {"host", host_name},
       {"memory", memory_of(configuration, host)},
       {"chunk_bytes", configuration.link.chunk_bytes},
       {"blocking", blocking ? json(blocking->count()) : json()},
       {"refusal", refusal ? json(*refusal) : json()}});
  TAKT_TRY((*bridge)->run(stop));
  json report = (*bridge)->report();
  report["event"] = "stopped";
  say(report);
  return {};
}

/// -1: it is no priority.
int parse_priority(std::string_view text) {
  int value = -1;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = fault == std::errc{} && end == text.data() + text.size();
  return whole && value <= most_priority ? value : -1;
}

}  // namespace
}  // namespace takt::bridge

int main(int argc, char** argv) {
  const int priority = argc == 4 ? takt::bridge::parse_priority(argv[3]) : -1;
  const takt::Result<void> result = priority >= 0
                                        ? takt::bridge::main(argv[1], argv[2], priority)
                                        : takt::error("usage: takt-bridge FILE HOST PRIORITY");
  if (result) return 0;
  fmt::print(stderr, "takt-bridge: {}\n", result.error().message);
  return 2;
}
