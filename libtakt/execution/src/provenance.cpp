#include "takt/execution/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "takt/base/grow.hpp"
#include "takt/execution/names.hpp"

namespace takt::execution {
namespace {

/// Those that the user wanted left out.
std::uint64_t left_out_callbacks(const Objects& objects) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(objects.callbacks, [&](const Callback& callback) {
        return !callback.continues && objects.is_left_out(callback);
      }));
}

/// ISO 8601, to the second.
std::string date(Duration since_epoch) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
  return fmt::format("{:%FT%TZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

/// A clock that says an earlier date counts from the start of its host, and not from 1970.
constexpr Duration first_date = std::chrono::hours(24 * 365 * 30);

}  // namespace

std::optional<std::string> time_of_day(Duration since_epoch) {
  if (since_epoch < first_date) return std::nullopt;
  const auto fraction =
      std::chrono::duration_cast<std::chrono::microseconds>(since_epoch) % std::chrono::seconds(1);
  std::string text = date(since_epoch);
  return text.insert(text.size() - 1, fmt::format(".{:06}", fraction.count()));
}

nlohmann::ordered_json inputs(const events::EventStream& source) {
  auto json = nlohmann::ordered_json::array();
  for (const events::Input& input : source.inputs()) {
    json.push_back(
        {{"path", input.path}, {"bytes", input.bytes}, {"fingerprint", input.fingerprint}});
    if (input.is_partial) json.back()["partial"] = true;
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
  json["suspension"] = database.totals().suspension_source();
  return json;
}

nlohmann::ordered_json schedule_json(const Database& database, ThreadIndex thread) {
  const Schedule schedule = database.schedule(thread);
  if (schedule.policy == Schedule::Policy::unknown) return {};
  nlohmann::ordered_json json{{"policy", to_string(schedule.policy)},
                              {"priority", schedule.priority},
                              {"cores", nullptr},
                              {"changes", schedule.changes}};
  if (!schedule.cores.empty()) json["cores"] = schedule.cores;
  return json;
}

nlohmann::ordered_json losses(const events::EventStream& source, const Database& database) {
  const events::StreamLosses& losses = source.losses();
  nlohmann::ordered_json json{{"discarded", losses.discarded_events}};
  const auto add = [&json](std::string_view name, std::uint64_t count) {
    if (count != 0) {
      json[std::string(name)] = count;
    }
  };
  add("discarded_packets", losses.discarded_packets);
  add("cut_elements", losses.cut_elements);
  add("unreadable_bytes", losses.unreadable_bytes);
  for (const auto& [name, count] : database.anomalies().list()) {
    add(name, count);
  }
  add("unrecorded_processes", database.objects().unrecorded.size());
  add("left_out_callbacks", left_out_callbacks(database.objects()));
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
    const bool is_seen =
        seen.contains(node.process) || value_at(objects.signals_runs, node.process) != 0;
    if (with_work.contains(node.process) && !is_seen) {
      found.insert(node.process);
    }
  }
  return {found.begin(), found.end()};
}

/// "4.5 s"; "350 ms" below a second.
std::string in_words(Duration time) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return milliseconds < 1000 ? fmt::format("{} ms", milliseconds)
                             : fmt::format("{:.1f} s", static_cast<double>(milliseconds) / 1000);
}

/// "/worker: /work", "/worker: timer-20ms".
std::string place(const Objects& objects, ObservedCallbackIndex index) {
  const Callback& callback = objects[index];
  const auto topic = objects.topic_of(callback);
  const std::string what = topic ? objects[*topic]
                           : callback.timer
                               ? "timer-" + compact_duration(objects[*callback.timer].period)
                               : display_name(objects, callback);
  return fmt::format("{}: {}", objects.node_name(callback), what);
}

/// A callback that runs for longer than this at the end, and a call without an answer, are told.
constexpr Duration too_long = std::chrono::seconds(1);

void add_unfinished(const Database& database, std::vector<std::string>& lines) {
  const Objects& objects = database.objects();
  for (const CallbackInstance& open : database.open_instances()) {
    const ProcessIndex process = database.threads()[open.thread].process;
    const auto ended = database.threads().ended(process);
    const Instant newest = database.newest_event(process);
    const Duration time = newest - open.start;
    // Where the process came back as another one, the callback's first one was killed.
    if (time < too_long || objects[open.callback].process != process) continue;
    // A thread that hangs and one that was killed look alike if nothing else of the process runs.
    const bool is_silent = ended && newest - *ended > too_long;
    lines.push_back(fmt::format("{} has not returned for {}{}", place(objects, open.callback),
                                in_words(time),
                                is_silent ? ", and nothing else of its process has run: it hangs "
                                            "or was killed"
                                          : ""));
  }
  for (const auto& [client, calls] : database.unanswered()) {
    if (is_infrastructure(objects[objects[client].name])) continue;
    const Duration time = database.newest_event(objects[client].process) - calls.first;
    if (time < too_long) continue;
    const auto& node = objects[client].node;
    lines.push_back(fmt::format("{}: {} {} of {} had no response, the first for {}",
                                node ? objects[*node].full_name() : "unknown", calls.count,
                                calls.count == 1 ? "call" : "calls", objects[objects[client].name],
                                in_words(time)));
  }
}

void add_late_readers(const Database& database, std::vector<std::string>& lines) {
  for (const auto& [callback, late] : database.late_readers()) {
    const auto topic = database.objects().topic_of(database.objects()[callback]);
    if (!topic || is_infrastructure(database.objects()[*topic])) continue;
    lines.push_back(fmt::format(
        "{}: {} {} sent up to {} before the subscription was there; that time counts nowhere",
        place(database.objects(), callback), late.messages,
        late.messages == 1 ? "message was" : "messages were", in_words(late.longest)));
  }
}

/// Fewer messages than these may be lost before a subscription is matched.
constexpr std::uint64_t enough_unheard = 8;

void add_unheard(const Database& database, std::vector<std::string>& lines) {
  const Objects& objects = database.objects();
  struct Unheard {
    std::uint64_t subscriptions = 0;
    std::uint64_t messages = 0;
  };
  std::map<std::string, Unheard> of_place;  // a node may have several subscriptions of a topic
  for (const auto& [index, messages] : database.unheard()) {
    const Subscription& subscription = objects[index];
    const auto ended = database.threads().ended(subscription.process);
    const Instant newest = database.newest_event(subscription.process);
    if (messages < enough_unheard || newest - subscription.since < too_long ||
        (ended && newest - *ended > too_long) || is_infrastructure(objects[subscription.topic]) ||
        objects.is_left_out(subscription.node, subscription.topic)) {
      continue;
    }
    Unheard& unheard = of_place[place(objects, subscription.callback)];
    ++unheard.subscriptions;
    unheard.messages = std::max(unheard.messages, messages);
  }
  for (const auto& [where, unheard] : of_place) {
    lines.push_back(fmt::format(
        "{}: none of the {} messages came that were sent while {} there: their qualities of "
        "service may not match, or nobody takes them",
        where, unheard.messages,
        unheard.subscriptions == 1
            ? "the subscription was"
            : fmt::format("its {} subscriptions were", unheard.subscriptions)));
  }
}

/// Names what takes messages by itself where nothing shows what becomes of them.
void add_unhandled(const Database& database, std::vector<std::string>& lines) {
  struct Taken {
    std::uint64_t all = 0;
    std::uint64_t unhandled = 0;
  };
  const Objects& objects = database.objects();
  const auto& unhandled = database.anomalies().unhandled_of_subscription;
  std::map<std::string, Taken> of_place;  // wait_for_message makes a subscription for each message
  const auto untold = without_callbacks(objects);  // which has a warning of its own
  for (std::size_t i = 0; i < unhandled.size(); ++i) {
    const Subscription& subscription = objects.subscriptions[i];
    if (subscription.has_buffer || is_infrastructure(objects[subscription.topic]) ||
        std::ranges::find(untold, subscription.process) != untold.end()) {
      continue;
    }
    Taken& taken = of_place[place(objects, subscription.callback)];
    taken.all += database.takes(SubscriptionIndex(i));
    taken.unhandled += unhandled[i];
  }
  for (const auto& [name, taken] : of_place) {
    if (taken.unhandled < enough_unheard || 2 * taken.unhandled < taken.all) continue;
    lines.push_back(fmt::format(
        "{}: {} messages were taken and no callback ran (rclpy.wait_for_message, for instance): "
        "what becomes of them is not known",
        name, taken.unhandled));
  }
}

/// "process 101 (camera)".
std::string name_of(const events::Process& process) {
  return fmt::format("process {} ({})", process.id, process.name);
}

/// Says what is missing because the user wanted it so.
void add_left_out(const Database& database, std::vector<std::string>& lines) {
  const Objects& objects = database.objects();
  if (objects.selection.is_everything()) return;
  std::string options;
  for (const auto& pattern : objects.selection.include) options += " --include " + pattern;
  for (const auto& pattern : objects.selection.exclude) options += " --exclude " + pattern;
  const auto publishers =
      std::ranges::count_if(objects.publishers, [&](const Publisher& publisher) {
        return objects.is_left_out(publisher.node, publisher.topic);
      });
  lines.push_back(fmt::format(
      "recorded with{}: {} callbacks and {} publishers are left out; flows through them begin or "
      "end there, and models lack the time that these callbacks take",
      options, left_out_callbacks(objects), publishers));
}

/// Says what is missing because processes were not recorded, as far as anything shows it.
void add_unrecorded(const Database& database, std::vector<std::string>& lines) {
  const Objects& objects = database.objects();
  for (const Unrecorded& found : objects.unrecorded) {
    const events::Process& process = database.threads()[found.process];
    lines.push_back(fmt::format("1 process with ROS 2 ({}, {}) was not recorded: {}", process.id,
                                process.name, found.why));
  }
  std::vector<bool> has_publisher(objects.topics.size());
  std::vector<bool> is_left_out(objects.topics.size());
  for (const Publisher& publisher : objects.publishers) {
    const std::size_t topic = publisher.topic.value();
    has_publisher[topic] = true;
    is_left_out[topic] = is_left_out[topic] || objects.is_left_out(publisher.node, publisher.topic);
  }
  std::string elsewhere;
  const auto& unmatched = database.anomalies().unmatched_of_topic;
  for (std::size_t i = 0; i < unmatched.size(); ++i) {
    if (unmatched[i] == 0 || is_left_out[i]) continue;
    const std::string& topic = objects.topics[i];
    const bool is_service = std::ranges::any_of(
        objects.services, [i](const Service& service) { return service.name.value() == i; });
    if (has_publisher[i] || is_service) {
      elsewhere += fmt::format("{}{} on {}", elsewhere.empty() ? "" : ", ", unmatched[i], topic);
    } else {
      lines.push_back(
          fmt::format("{0} messages were received on {1} and none of its publishers is in the "
                      "recording: a process that publishes {1} was not recorded",
                      unmatched[i], topic));
    }
  }
  if (!elsewhere.empty()) {
    lines.push_back(fmt::format(
        "messages were received whose sending is not in the recording ({}): another process that "
        "sends there was not recorded, or they are older than the recording",
        elsewhere));
  }
}

/// Processes that may be several with the same number.
void add_mixed(const events::EventStream& source, const Database& database,
               std::vector<std::string>& lines) {
  constexpr std::string_view remedy =
      "record with the context pid_ns ('lttng add-context -u -t pid_ns')";
  std::set<ProcessIndex> mixed;
  // Each lost event may be the end of a callback, which then seems to overlap with the next.
  const events::StreamLosses& losses = source.losses();
  if (losses.discarded_packets == 0 &&
      database.anomalies().overlapping_callbacks > losses.discarded_events) {
    for (const ThreadIndex thread : database.mixed_threads()) {
      mixed.insert(database.threads()[thread].process);
    }
  }
  for (const ProcessIndex process : mixed) {
    lines.push_back(fmt::format(
        "{}: callbacks of one of its threads overlap, so these are processes with the same number, "
        "of containers for instance, and what is said of them is mixed; {}",
        name_of(database.threads()[process]), remedy));
  }
  const auto& contexts = database.objects().contexts;
  for (std::size_t i = 0; source.knows_numbers_alone() && i < contexts.size(); ++i) {
    if (contexts[i] < 2 || mixed.contains(ProcessIndex(i))) continue;
    lines.push_back(fmt::format(
        "{} initialised ROS 2 {} times: these may be processes with the same number, of containers "
        "for instance, whose events are mixed; {} to tell them apart",
        name_of(database.threads()[ProcessIndex(i)]), contexts[i], remedy));
  }
}

}  // namespace

std::vector<std::string> unseen(const events::Threads& threads, const Database& database,
                                std::string_view command, bool is_damaged) {
  const Anomalies& anomalies = database.anomalies();
  std::vector<std::string> lines;
  for (const Recovery& recovery : database.objects().recoveries) {
    if (!recovery.unknown.empty()) {
      const events::Process& process = threads[recovery.process];
      lines.push_back(
          fmt::format("process {} ({}) ran before; {} objects were found in its memory, but "
                      "not: {}",
                      process.id, process.name, recovery.objects, recovery.unknown));
    }
  }
  for (const ProcessIndex index : without_callbacks(database.objects())) {
    const events::Process& process = threads[index];
    lines.push_back(fmt::format(
        "process {} ({}) has nodes, but none of their callbacks was seen: rclpy programs must be "
        "started with 'takt {} -- COMMAND', keep the PYTHONPATH that it gives them (no 'python -E' "
        "or '-I'), and ros2:* events be recorded",
        process.id, process.name, command));
  }
  if (anomalies.runs_without_end != 0) {
    lines.push_back(fmt::format(
        "{} runs of rclpy's callbacks count nowhere, because they or what came after them woke the "
        "executor, or they waited within, and so nothing shows when they ended: start the program "
        "with 'takt {} -- COMMAND'",
        anomalies.runs_without_end, command));
  }
  if (anomalies.missing_initialisation()) {
    lines.push_back(fmt::format(
        "{} events speak of objects whose creation is not in the trace, shown as unknown(handle): "
        "{}",
        anomalies.unknown_callback_instances + anomalies.unknown_publications +
            anomalies.unknown_takes,
        is_damaged
            ? "it may be in what could not be read"
            : fmt::format("start 'takt {}' before the programs, with all ros2:* events", command)));
  }
  return lines;
}

std::vector<std::string> warnings(const events::EventStream& source, const Database& database) {
  const events::StreamLosses& losses = source.losses();
  const Anomalies& anomalies = database.anomalies();
  std::vector<std::string> lines = losses.faults;
  for (const events::Input& input : source.inputs()) {
    if (input.is_partial) {
      lines.push_back(input.path +
                      ": of a recording that was interrupted, or goes on: its last second is "
                      "missing, or all since its disk was full");
    }
  }
  if (losses.discarded_events != 0 || losses.discarded_packets != 0) {
    const auto counts = source.counts();
    const bool has_switches = std::ranges::any_of(
        counts, [](const auto& entry) { return entry.first.ends_with("sched_switch"); });
    lines.push_back(fmt::format(
        "{} events and {} packets were lost while recording: chains may be cut and counts too "
        "low; record with larger buffers (--buffer) or fewer events (--exclude){}",
        losses.discarded_events, losses.discarded_packets,
        has_switches ? "; switches of processors that the kernel did not report are among them, "
                       "for which no buffer helps (docs/tracing.md)"
                     : ""));
  }
  if (losses.cut_elements != 0) {
    lines.push_back(fmt::format("{} elements of lists are left out: no list is longer than {}",
                                losses.cut_elements, events::longest_list));
  }
  if (const auto& repeated = source.repeated(); repeated.packets + repeated.events != 0) {
    lines.push_back(fmt::format(
        "{} packets and {} other events were recorded more than once, by snapshots that overlap or "
        "several sessions, and are counted once",
        repeated.packets, repeated.events));
  }
  add_left_out(database, lines);
  add_unrecorded(database, lines);
  add_mixed(source, database, lines);
  if (anomalies.takes_matched_by_time != 0) {
    lines.push_back(
        fmt::format("{} messages were followed by order and time, because ROS 2 before Jazzy "
                    "(tracetools before "
                    "8) does not record their source timestamps when they are published",
                    anomalies.takes_matched_by_time));
  }
  std::ranges::move(unseen(source.threads(), database, "record", losses.unreadable_bytes != 0),
                    std::back_inserter(lines));
  if (anomalies.orphan_starts + anomalies.orphan_ends != 0) {
    lines.push_back(fmt::format("{} callback starts and {} callback ends have no partner",
                                anomalies.orphan_starts, anomalies.orphan_ends));
  }
  if (anomalies.ambiguous_takes != 0) {
    lines.push_back(fmt::format("{} messages match several publications and are linked to none",
                                anomalies.ambiguous_takes));
  }
  add_unfinished(database, lines);
  add_late_readers(database, lines);
  add_unheard(database, lines);
  add_unhandled(database, lines);
  return lines;
}

}  // namespace takt::execution
