#include "takt/execution/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

namespace takt::execution {
namespace {

/// ISO 8601, to the second.
std::string date(Duration since_epoch) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
  return fmt::format("{:%FT%TZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

}  // namespace

nlohmann::ordered_json inputs(const events::EventStream& source) {
  auto json = nlohmann::ordered_json::array();
  for (const events::Input& input : source.inputs()) {
    json.push_back(
        {{"path", input.path}, {"bytes", input.bytes}, {"fingerprint", input.fingerprint}});
  }
  return json;
}

nlohmann::ordered_json provenance(const events::EventStream& source, const Database& database,
                                  const Pass& pass, std::optional<Instant> steady_since) {
  nlohmann::ordered_json json{{"tool", "takt " TAKT_VERSION}};
  json["inputs"] = inputs(source);
  json["hosts"] = nlohmann::ordered_json::array();
  for (const events::Host& host : source.threads().hosts()) {
    json["hosts"].push_back(host.name);
  }
  json["recorded"] = date(pass.first.time_since_epoch() + source.epoch_offset());
  json["duration"] = (pass.last - pass.first).count();
  json["start_up"] = steady_since ? (*steady_since - pass.first).count() : 0;
  json["cores"] = source.processors();
  json["execution_time"] = database.totals().source();
  return json;
}

nlohmann::ordered_json losses(const events::StreamLosses& losses, const Anomalies& anomalies) {
  nlohmann::ordered_json json{{"discarded", losses.discarded_events}};
  const auto add = [&json](std::string_view name, std::uint64_t count) {
    if (count != 0) {
      json[std::string(name)] = count;
    }
  };
  add("discarded_packets", losses.discarded_packets);
  add("cut_elements", losses.cut_elements);
  add("unreadable_bytes", losses.unreadable_bytes);
  for (const auto& [name, count] : anomalies.list()) {
    add(name, count);
  }
  return json;
}

namespace {

/// Processes with nodes for whose callbacks there is no event, not even a registration.
std::vector<ProcessIndex> without_callbacks(const Objects& objects) {
  std::set<ProcessIndex> with_work;
  for (const auto& subscription : objects.subscriptions) {
    with_work.insert(subscription.process);
  }
  for (const auto& timer : objects.timers) {
    with_work.insert(timer.process);
  }
  for (const auto& service : objects.services) {
    with_work.insert(service.process);
  }
  std::set<ProcessIndex> seen;
  for (const auto& callback : objects.callbacks) {
    if (callback.handle != 0) {
      seen.insert(callback.process);
    }
  }
  for (const auto& recovery : objects.recoveries) {
    seen.insert(recovery.process);  // its own warning says what is missing
  }
  std::set<ProcessIndex> found;
  for (const auto& node : objects.nodes) {
    if (with_work.contains(node.process) && !seen.contains(node.process)) {
      found.insert(node.process);
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace

std::vector<std::string> warnings(const events::EventStream& source, const Database& database) {
  const events::StreamLosses& losses = source.losses();
  const Anomalies& anomalies = database.anomalies();
  std::vector<std::string> lines = losses.faults;
  for (const events::Input& input : source.inputs()) {
    if (std::string_view(input.path)
            .substr(0, input.path.find_last_not_of('/') + 1)
            .ends_with(".partial")) {  // takt record's name for an incomplete trace
      lines.push_back(input.path +
                      ": of a recording that was interrupted, or goes on: its last second is "
                      "missing");
    }
  }
  if (losses.discarded_events != 0 || losses.discarded_packets != 0) {
    lines.push_back(fmt::format(
        "{} events and {} packets were lost while recording: chains may be cut and counts too "
        "low; record with larger buffers or fewer events",
        losses.discarded_events, losses.discarded_packets));
  }
  if (losses.cut_elements != 0) {
    lines.push_back(fmt::format("{} elements of lists are left out: no list is longer than {}",
                                losses.cut_elements, events::longest_list));
  }
  for (const Recovery& recovery : database.objects().recoveries) {
    if (!recovery.unknown.empty()) {
      const events::Process& process = source.threads()[recovery.process];
      lines.push_back(fmt::format(
          "process {} ({}) is older than the recording; {} objects were found in its memory, but "
          "not: {}",
          process.id, process.name, recovery.objects, recovery.unknown));
    }
  }
  for (const ProcessIndex index : without_callbacks(database.objects())) {
    const events::Process& process = source.threads()[index];
    lines.push_back(fmt::format(
        "process {} ({}) has nodes, but none of their callbacks is in the trace: rclpy programs "
        "must be started with 'takt record -- COMMAND', and ros2:* events be recorded",
        process.id, process.name));
  }
  if (anomalies.missing_initialisation()) {
    lines.push_back(fmt::format(
        "{} events speak of objects whose creation is not in the trace, shown as unknown(handle): "
        "start recording before the programs",
        anomalies.unknown_callback_instances + anomalies.unknown_publications +
            anomalies.unknown_takes));
  }
  if (anomalies.orphan_starts + anomalies.orphan_ends != 0) {
    lines.push_back(fmt::format("{} callback starts and {} callback ends have no partner",
                                anomalies.orphan_starts, anomalies.orphan_ends));
  }
  if (anomalies.ambiguous_takes != 0) {
    lines.push_back(fmt::format("{} messages match several publications and are linked to none",
                                anomalies.ambiguous_takes));
  }
  return lines;
}

}  // namespace takt::execution
