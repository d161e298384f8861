#include "takt/viewer/document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>
#include <string_view>

#include "cause.hpp"
#include "chains.hpp"
#include "links.hpp"
#include "phrases.hpp"
#include "takt/base/grow.hpp"
#include "takt/base/json_text.hpp"
#include "takt/base/try.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/provenance.hpp"
#include "takt/statistics/distribution.hpp"
#include "takt/statistics/json.hpp"
#include "timeline.hpp"

namespace takt::viewer {
namespace {

using Json = nlohmann::ordered_json;
using execution::Objects;
using execution::ObservedCallbackIndex;
using statistics::Distribution;

/// The side group of a topic or service: "parameters", "logging" or "services"; empty: none. The
/// graph shows these groups only when asked to.
std::string_view side_of(std::string_view name, bool service) {
  switch (execution::housekeeping_of(name)) {
    case execution::Housekeeping::parameters:
      return "parameters";
    case execution::Housekeeping::logging:
      return "logging";
    case execution::Housekeeping::clock:
    case execution::Housekeeping::none:
      break;
  }
  return service ? "services" : "";
}

Json statistics_of(const Distribution& times) {
  Json statistics = statistics::to_json(times);
  statistics.erase("min");
  statistics.erase("mean");
  return statistics;
}

Json hosts(const events::Threads& threads) {
  Json list = Json::array();
  for (const events::Host& host : threads.hosts()) {
    list.push_back({{"name", host.name}});
  }
  return list;
}

Json processes(const events::Threads& threads) {
  Json list = Json::array();
  for (const events::Process& process : threads.processes()) {
    list.push_back({{"name", process.name}, {"pid", process.id}, {"host", process.host.value()}});
  }
  return list;
}

Json executors(const Timeline& timeline, const events::Threads& threads) {
  Json list = Json::array();
  const auto ids = execution::executor_ids(timeline.executors(), threads);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const execution::Executor& executor = timeline.executors()[i];
    list.push_back({{"name", ids[i]},
                    {"kind", executor.kind()},
                    {"process", executor.process.value()},
                    {"supply", ""}});
  }
  return list;
}

Json tracks(const Timeline& timeline, const events::Threads& threads) {
  Json list = Json::array();
  for (const Track& track : timeline.tracks()) {
    const events::Thread& thread = threads[track.thread];
    const auto nested = track.depth == 0 ? "" : fmt::format(" (nested {})", track.depth);
    const bool known = track.executor < timeline.executors().size();
    list.push_back({{"kind", "thread"},
                    {"name", fmt::format("thread {}{}", thread.id, nested)},
                    {"executor", known ? static_cast<std::int64_t>(track.executor) : -1},
                    {"host", threads[thread.process].host.value()}});
  }
  for (const Scheduling::Processor& processor : timeline.scheduling().processors()) {
    list.push_back({{"kind", "cpu"},
                    {"name", fmt::format("CPU {}", processor.number)},
                    {"executor", -1},
                    {"host", processor.host.value()}});
  }
  return list;
}

Json topics(const Objects& objects) {
  std::set<std::string> services;
  for (const execution::Service& service : objects.services) {
    services.insert(objects[service.name]);
  }
  Json list = Json::array();
  for (const std::string& topic : objects.topics) {
    list.push_back({{"name", topic}, {"side", side_of(topic, services.contains(topic))}});
  }
  return list;
}

Json callbacks(const Objects& objects, const Recording& recording, const Timeline& timeline,
               const model::Model& model, const flow::Measurement& measured) {
  std::vector<Distribution> execution_times = recording.execution_times();
  execution_times.resize(objects.callbacks.size());
  std::vector<std::int64_t> executor_of(objects.callbacks.size(), -1);
  for (std::size_t i = 0; i < timeline.executors().size(); ++i) {
    for (const ObservedCallbackIndex callback : timeline.executors()[i].callbacks) {
      executor_of[callback.value()] = static_cast<std::int64_t>(i);
    }
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
    const execution::Callback& callback = objects.callbacks[i];
    const auto topic = objects.topic_of(callback);
    const auto match = value_at(recording.matches(), ObservedCallbackIndex(i));
    Json entry = {
        {"name", execution::display_name(objects, callback)},
        {"node", objects.node_name(callback)},
        {"kind", execution::to_string(callback.kind)},
        {"topic", topic ? static_cast<std::int64_t>(topic->value()) : -1},
        {"executor", executor_of[i]},
        {"side", topic ? side_of(objects[*topic], callback.service.has_value()) : ""},
        {"period", nullptr},
        {"count", execution_times[i].count()},
        {"execution", statistics_of(execution_times[i])},
        {"response",
         statistics_of(match ? measured.callbacks[match->value()].response_time : Distribution())},
        {"bound", nullptr},
        {"id", match ? Json(model.callbacks[match->value()].id) : Json(nullptr)},
    };
    if (callback.timer) {
      entry["period"] = objects[*callback.timer].period.count();
    }
    if (callback.continues) entry["continues"] = callback.continues->value();
    list.push_back(std::move(entry));
  }
  return list;
}

Json edges(const Objects& objects, const Recording& recording, const Timeline& timeline,
           const Links& links) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::size_t>;
  std::map<Key, std::uint64_t> counts;
  const auto callback_of = [&](std::int32_t run) {
    return static_cast<std::int64_t>(
        recording.runs()[static_cast<std::size_t>(run)].callback.value());
  };
  for (const Message& message : timeline.messages()) {
    if (message.source >= 0 && message.target >= 0) {
      ++counts[{callback_of(message.source), callback_of(message.target), message.topic.value()}];
    }
  }
  Json list = Json::array();
  for (const auto& [key, count] : counts) {
    const auto [from, to, topic] = key;
    const auto& target = objects.callbacks[static_cast<std::size_t>(to)];
    const bool service = target.service.has_value();
    list.push_back({{"from", from},
                    {"to", to},
                    {"topic", topic},
                    {"kind", service ? "service" : "message"},
                    {"count", count},
                    {"side", side_of(objects.topics[topic], service)}});
  }
  for (const auto& [ends, count] : links.counts) {
    list.push_back({{"from", ends.first.value()},
                    {"to", ends.second.value()},
                    {"topic", -1},
                    {"kind", "stored"},
                    {"count", count},
                    {"side", ""}});
  }
  return list;
}

/// For a chain without instances: the first callback of the trace that matches each of its steps.
std::vector<std::int64_t> path_of(const model::Chain& chain, const Recording& recording) {
  std::vector<std::int64_t> path;
  for (const model::CallbackIndex step : chain.callbacks) {
    const auto match = std::ranges::find(recording.matches(), std::optional(step));
    if (match != recording.matches().end()) {
      path.push_back(match - recording.matches().begin());
    }
  }
  return path;
}

/// What people call the time that a goal is about which is no latency.
std::string_view time_of(model::GoalKind kind) {
  return kind == model::GoalKind::reaction ? "reaction time" : "data age";
}

Json chains_of(const model::Model& model, const Chains& chains, const Recording& recording,
               const flow::Measurement& measured, const std::vector<std::string>& names,
               const std::vector<std::string>& actors, bool scheduling) {
  Json list = Json::array();
  for (std::size_t i = 0; i < model.chains.size(); ++i) {
    const model::Chain& chain = model.chains[i];
    const ChainView& view = chains.views[i];
    const Distribution& latency = measured.chains[i].latency;
    const Json statistics = statistics::to_json(latency);
    Json endings = Json::array();
    for (const ChainView::Ending& ending : view.endings) {
      endings.push_back(
          {{"step", ending.step}, {"reason", ending.reason}, {"count", ending.count}});
    }
    Json entry = {
        {"name", chain.id},
        {"callbacks", view.worst >= 0 ? view.callbacks : path_of(chain, recording)},
        {"goal", chain.goal ? Json(chain.goal->count()) : Json(nullptr)},
        {"bound", nullptr},
        {"count", latency.count()},
        {"incomplete", recording.keeps(i) && recording.whole_until(i) == Instant::max()
                           ? view.incomplete
                           : measured.chains[i].incomplete()},
        {"min", statistics["min"]},
        {"mean", statistics["mean"]},
        {"p50", statistics["p50"]},
        {"p99", statistics["p99"]},
        {"max", statistics["max"]},
        {"tone", "none"},
        {"verdict", ""},
        {"cause", cause(recording, view.worst_parts, view.callbacks, names, actors,
                        view.worst_latency, scheduling)},
        {"worst", view.worst},
        {"endings", std::move(endings)},
    };
    if (chain.kind != model::GoalKind::latency) entry["time"] = time_of(chain.kind);
    list.push_back(std::move(entry));
  }
  return list;
}

Json phrases_of(bool scheduling) {
  Json list = Json::array();
  for (const flow::StageWords& phrase : phrases(scheduling)) {
    list.push_back({phrase.alone, phrase.with_other});
  }
  return list;
}

Json warning(const std::string& line) {
  return {{"tone", "warn"}, {"title", line}, {"lines", Json::array()}};
}

/// Warnings of what was left out because the storage was full.
void add_left_out(const Recorded& recorded, const Chains& chains, const Storage& storage,
                  Json& list) {
  const Recording::LeftOut& left_out = recorded.recording.left_out();
  const std::string_view advice = storage.on_disk() ? "" : "; takt serve shows them all";
  if (left_out.runs > 0) {
    list.push_back(warning(fmt::format("{} callback runs are not shown: a page holds {}{}",
                                       left_out.runs, storage.runs(), advice)));
  }
  if (left_out.messages + left_out.takes > 0) {
    list.push_back(
        warning(fmt::format("{} messages, and {} takes that no run followed, are not "
                            "shown{}",
                            left_out.messages, left_out.takes, advice)));
  }
  std::uint64_t instances = left_out.chains;
  for (const ChainView& view : chains.views) {
    instances += view.left_out;
  }
  if (instances > 0) {
    list.push_back(
        warning(fmt::format("{} complete instances of chains are not shown, nor are "
                            "incomplete ones that may lead to what is not shown{}",
                            instances, advice)));
  }
}

Json warnings(const Recorded& recorded, const Chains& chains, const Storage& storage) {
  Json list = Json::array();
  for (const std::string& line : execution::warnings(recorded.source, recorded.database)) {
    list.push_back(warning(line));
  }
  add_left_out(recorded, chains, storage, list);
  std::size_t without = 0;
  for (std::size_t chain = 0; chain < recorded.model.chains.size(); ++chain) {
    without += recorded.recording.keeps(chain) ? 0u : 1u;
  }
  if (without > 0) {
    list.push_back(warning(fmt::format(
        "{} of {} chains are shown without their instances, which would take more room than all "
        "callback runs: name the chains that matter in a goals file (--goals)",
        without, recorded.model.chains.size())));
  }
  if (const std::uint64_t left_out = recorded.scheduling.left_out()) {
    list.push_back(
        warning(fmt::format("{} changes of threads on processors are not shown", left_out)));
  }
  return list;
}

/// Adds the tables to the document as blocks. On disk, writes the rest of their files instead.
Result<void> finish(Document& document, const Storage& storage,
                    std::initializer_list<std::pair<const char*, Table*>> tables) {
  for (const auto& [name, table] : tables) {
    if (storage.on_disk()) {
      TAKT_TRY(table->close());
    } else if (name != std::string_view("tracks")) {  // a page has the tracks in its index
      document.tables.emplace(name, table->block());
    }
  }
  return {};
}

Result<Document> make(const Recorded& recorded, const Storage& storage, Work& work) {
  const auto& [model, source, database, pass, recording, scheduling, measurer] = recorded;
  const Objects& objects = database.objects();
  const events::Threads& threads = database.threads();
  const flow::Measurement measured = measurer.measurement();
  work.expect(recording.runs().size() + recording.sent().size() + scheduling.occupations().size());
  Timeline timeline(database, recording, scheduling, pass.first, storage, work);
  Links links = make_links(objects, model, recording, timeline, storage);
  Chains chains = make_chains(model, recording, timeline, measurer, pass.first, pass.last,
                              database.steady_since().value_or(pass.first), storage, work);
  const std::vector<std::string> names = execution::callback_ids(objects);
  const std::vector<std::string> actors = scheduling.actors();
  // Whether running is told from waiting for a processor and from sleeping.
  const bool tells_running =
      scheduling.recorded() || database.totals().suspension_source() == "thread_waits";

  const Json index = {
      {"format", "takt/viewer"},
      {"version", 1},
      {"title", model.name},
      {"origin", std::to_string((pass.first.time_since_epoch() + source.epoch_offset()).count())},
      {"duration", (pass.last - pass.first).count()},
      {"facts", Json::array()},
      {"scheduling", tells_running},
      {"hosts", hosts(threads)},
      {"processes", processes(threads)},
      {"executors", executors(timeline, threads)},
      {"tracks", tracks(timeline, threads)},
      {"topics", topics(objects)},
      {"callbacks", callbacks(objects, recording, timeline, model, measured)},
      {"edges", edges(objects, recording, timeline, links)},
      {"chains", chains_of(model, chains, recording, measured, names, actors, tells_running)},
      {"actors", actors},
      {"phrases", phrases_of(tells_running)},
      {"answer", Json::array()},
      {"warnings", warnings(recorded, chains, storage)},
      {"provenance", Json::array()},
  };
  Document document;
  // Names in a trace may be anything, also no UTF-8.
  document.index = json_text(index);
  Table tracks(storage, "tracks", {{"processor"}});
  for (const Json& track : index["tracks"]) {
    tracks.add({track["kind"] == "cpu" ? 1 : 0});
  }
  TAKT_TRY(finish(document, storage,
                  {{"tracks", &tracks},
                   {"spans", &timeline.span_table()},
                   {"segments", &timeline.segment_table()},
                   {"messages", &timeline.message_table()},
                   {"links", &links.table},
                   {"instances", &chains.instances},
                   {"parts", &chains.parts}}));
  return document;
}

}  // namespace

Result<Document> make_document(const Recorded& recorded, const Storage& storage, Work& work) {
  return until_full([&] { return make(recorded, storage, work); });
}

}  // namespace takt::viewer
