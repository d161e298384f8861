// takt-gate: lets the messages of a topic out in slots. People use `takt apply`, which starts one
// of these for each chain of a plan:
//
//   takt-gate SETTINGS        a JSON object (settings.hpp)
//
// It writes {"event": "connected"} when it has found the publishers, with "refusal" if the kernel
// did not grant its priority, and {"event": "stopped", …} with what went through at its end, which
// the end of its standard input, SIGINT or SIGTERM bring about. Errors are one line on standard
// error and exit status 2.

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "republisher.hpp"
#include "takt/base/try.hpp"
#include "takt/executor/thread_settings.hpp"
#include "takt/linux/ending.hpp"

namespace takt::gate {
namespace {

using nlohmann::json;

void say(const json& line) {
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

json to_json(const statistics::Distribution& times) {
  if (times.count() == 0) return json{{"count", 0}};
  return {{"count", times.count()},
          {"min", times.min().count()},
          {"mean", times.mean()},
          {"p50", times.quantile(0.5).count()},
          {"p99", times.quantile(0.99).count()},
          {"p999", times.quantile(0.999).count()},
          {"max", times.max().count()}};
}

json to_json(const std::vector<shaping::Slot>& slots) {
  json result = json::array();
  for (const shaping::Slot& slot : slots) {
    result.push_back({{"start", slot.start.count()}, {"end", slot.end.count()}});
  }
  return result;
}

/// null: cycles are not told.
json phase_to_json(const Republisher& republisher) {
  const auto& phase = republisher.phase();
  if (!phase) return {};
  const std::optional<double> drift = phase->drift();
  return {{"told", republisher.counts().told},
          {"refused", republisher.counts().refused},
          {"unreadable", republisher.counts().unreadable},
          {"drift", drift ? json(*drift) : json()},
          {"relocks", phase->relocks()}};
}

/// Gives the calling thread the gate's priority and processor. Returns why the kernel refuses, if
/// it does.
std::optional<std::string> schedule(const Settings& settings) {
  executor::ThreadSettings wanted;
  if (settings.priority > 0) {
    wanted.scheduling = linux_os::FifoScheduling{.priority = settings.priority};
  }
  if (settings.processor) wanted.processors = {*settings.processor};
  const Result<void> applied = executor::apply(wanted);
  return applied ? std::nullopt : std::optional(applied.error().message);
}

Result<void> main(const std::string& text) {
  const Settings settings = TAKT_TRY(parse_settings(text));
  std::atomic<bool> stop = false;
  const linux_os::Ending ending(stop);
  // Before ROS 2 starts: its threads, which receive, inherit it.
  const std::optional<std::string> refusal = schedule(settings);
  const auto republisher = TAKT_TRY(Republisher::create(settings, stop));
  if (!stop) say({{"event", "connected"}, {"refusal", refusal ? json(*refusal) : json()}});
  TAKT_TRY(republisher->run(stop));
  const Counts& counts = republisher->counts();
  say({{"event", "stopped"},
       {"received", counts.received},
       {"released", counts.released},
       {"late", counts.late},
       {"dropped", counts.dropped},
       {"unphased", counts.unphased},
       {"adaptations", counts.adaptations},
       {"phase", phase_to_json(*republisher)},
       {"slots", to_json(republisher->slots())},
       {"ready", to_json(counts.ready)},
       {"left", to_json(counts.left)},
       {"delay", to_json(counts.delay)}});
  return {};
}

}  // namespace
}  // namespace takt::gate

int main(int argc, char** argv) {
  const takt::Result<void> result =
      argc == 2 ? takt::gate::main(argv[1]) : takt::error("usage: takt-gate SETTINGS");
  if (result) return 0;
  fmt::print(stderr, "takt-gate: {}\n", result.error().message);
  return 2;
}
