#include "takt/synthesis/synthesizer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "builder.hpp"
#include "chains.hpp"
#include "takt/base/json_text.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/provenance.hpp"
#include "takt/synthesis/observations.hpp"

namespace takt::synthesis {

namespace {

/// Execution times of each callback, for merging: a model keeps the longest alone.
nlohmann::ordered_json observed_json(const Builder& builder) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [id, times] : builder.observed_times()) {
    json[id] = {{"count", times.count},
                {"min", times.shortest.count()},
                {"mean", times.total.count() / static_cast<std::int64_t>(times.count)},
                {"max", times.longest.count()}};
  }
  return json;
}

/// Who called each service, as far as the recording shows it. Services that every node has are left
/// out.
nlohmann::ordered_json calls_json(const Observations& observations,
                                  const execution::Objects& objects) {
  auto json = nlohmann::ordered_json::array();
  const auto ids = execution::callback_ids(objects);
  for (const execution::Service& service : objects.services) {
    const CallbackObservation* const observed = observations.callback(service.callback);
    if (observed == nullptr || execution::is_infrastructure(objects[service.name])) continue;
    auto callers = nlohmann::ordered_json::object();
    for (const auto& [caller, count] : observed->activated_by) {
      callers[ids[caller.value()]] = count;
    }
    json.push_back({{"service", ids[service.callback.value()]},
                    {"count", observed->count},
                    {"callers", std::move(callers)},
                    {"unknown", observed->activated_from_outside}});
  }
  return json;
}

/// How the kernel schedules the threads of executors, as far as the recording shows it. Threads of
/// an executor that are alike are one entry.
nlohmann::ordered_json scheduling_json(const Observations& observations,
                                       const execution::Database& database) {
  const auto executors = observations.executors().executors(database.objects(), database.threads());
  const auto ids = execution::executor_ids(executors, database.threads());
  auto json = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < executors.size(); ++i) {
    std::map<std::string, std::uint64_t> alike;
    for (const execution::ThreadIndex thread : executors[i].threads) {
      const auto schedule = execution::schedule_json(database, thread);
      if (!schedule.is_null()) ++alike[schedule.dump()];
    }
    for (const auto& [schedule, threads] : alike) {
      auto entry = nlohmann::ordered_json::parse(schedule);
      entry["executor"] = ids[i];
      entry["threads"] = threads;
      json.push_back(std::move(entry));
    }
  }
  return json;
}

/// Nodes whose callbacks are on several executors of one thread. Only executors that take single
/// callback groups can do that (callback-isolated executors, one for each group).
nlohmann::ordered_json isolated_json(const model::Model& model) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> executors;
  for (const model::Callback& callback : model.callbacks) {
    const model::Executor& executor = model[callback.executor];
    const bool is_thread =
        executor.threads == 1 && executor.kind != model::ExecutorKind::event_source;
    if (executor.process && is_thread) {
      executors[{*executor.process, callback.node}].insert(executor.id);
    }
  }
  auto json = nlohmann::ordered_json::array();
  for (const auto& [place, ids] : executors) {
    if (ids.size() < 2) continue;
    json.push_back({{"process", place.first}, {"node", place.second}, {"executors", ids}});
  }
  return json;
}

/// The callbacks of each action, on either side. An action consists of services and topics below
/// its name.
nlohmann::ordered_json actions_json(const model::Model& model) {
  std::map<std::string, std::vector<std::string>> actions;
  for (const model::Callback& callback : model.callbacks) {
    const auto part = callback.topic.value_or("").find("/_action/");
    if (part != std::string::npos) actions[callback.topic->substr(0, part)].push_back(callback.id);
  }
  auto json = nlohmann::ordered_json::array();
  for (const auto& [name, callbacks] : actions) {
    json.push_back({{"action", name}, {"callbacks", callbacks}});
  }
  return json;
}

/// Nodes whose present phase began after start-up.
nlohmann::ordered_json phases_json(const Observations& observations,
                                   const execution::Objects& objects, Instant begin) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& [node, phases] : observations.phases()) {
    json.push_back({{"node", objects[node].full_name()},
                    {"changes", phases.changes},
                    {"since", (phases.since - begin).count()},
                    {"shown_by", phases.shown_by}});
  }
  return json;
}

nlohmann::ordered_json aging_json(const Aging& aging) {
  const auto share = [](std::int64_t millionths) {
    return static_cast<double>(millionths) / static_cast<double>(Aging::one);
  };
  return {{"period", aging.period},
          {"weight", share(aging.weight)},
          {"threshold", share(aging.threshold)},
          {"margin", share(aging.margin)}};
}

/// Times count from the beginning of the recording.
nlohmann::ordered_json outliers_json(const Builder& builder, Instant begin) {
  auto json = nlohmann::ordered_json::array();
  for (const Outlier& outlier : builder.outliers()) {
    auto& entry = json.emplace_back();
    entry["of"] = outlier.of;
    entry["id"] = outlier.id;
    if (!outlier.to.empty()) entry["to"] = outlier.to;
    entry["value"] = outlier.value.count();
    entry["at"] = (outlier.time - begin).count();
    for (const Duration value : outlier.without) entry["without"].push_back(value.count());
  }
  return json;
}

nlohmann::ordered_json filters_json(const Builder& builder, const model::Model& model) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& [callback, last_is_of_set] : builder.filters()) {
    json.push_back({{"callback", model[callback].id}, {"last_is_of_set", last_is_of_set}});
  }
  return json;
}

nlohmann::ordered_json unnamed_json(const Builder& builder, const model::Model& model) {
  auto json = nlohmann::ordered_json::array();
  for (const UnnamedWork& work : builder.unnamed_work()) {
    json.push_back({{"executor", model[work.executor].id},
                    {"count", work.count},
                    {"total", work.total.count()},
                    {"longest", work.longest.count()}});
  }
  return json;
}

/// Threads that are no executors, or that nobody can classify, and the model's callbacks that run
/// on them. Threads that are alike are counted.
nlohmann::ordered_json threads_json(const Builder& builder, const model::Model& model,
                                    const execution::Database& database) {
  struct Alike {
    std::uint64_t threads = 0;
    std::uint64_t changes = 0;
    std::set<std::string> callbacks;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Alike> found;
  const auto& histories = database.thread_histories();
  for (std::size_t i = 0; i < histories.size(); ++i) {
    using enum execution::ThreadClass;
    const execution::ThreadHistory& history = histories[i];
    if (history.now() == unknown || history.now() == executor) continue;
    const auto callbacks = builder.callbacks_on(execution::ThreadIndex(i), model);
    if (callbacks.empty()) continue;
    const events::Thread& thread = database.threads()[execution::ThreadIndex(i)];
    const std::string process = database.threads()[thread.process].name;
    Alike& alike =
        found[{process, std::string(to_string(history.now())), std::string(history.reason())}];
    ++alike.threads;
    alike.changes += history.changes();
    alike.callbacks.insert(callbacks.begin(), callbacks.end());
  }
  auto json = nlohmann::ordered_json::array();
  for (const auto& [key, alike] : found) {
    const auto& [process, name, reason] = key;
    json.push_back({{"process", process},
                    {"class", name},
                    {"threads", alike.threads},
                    {"changes", alike.changes},
                    {"callbacks", alike.callbacks}});
    if (!reason.empty()) json.back()["reason"] = reason;
  }
  return json;
}

/// Nodes of one name that ran callbacks.
struct AlikeNodes {
  std::set<execution::NodeIndex> nodes;
  std::vector<std::int64_t> processes;
  /// Some of their callbacks have nothing but a number to tell them apart.
  bool are_confused = false;
};

/// Nodes that share their name with others, by that name.
std::map<std::string, AlikeNodes> alike_nodes(const Observations& observations,
                                              const execution::Database& database) {
  const execution::Objects& objects = database.objects();
  const auto ids = execution::callback_ids(objects);
  std::map<std::string, AlikeNodes> found;
  for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
    const auto node = objects.node_of(objects.callbacks[i]);
    if (!node || observations.callback(ObservedCallbackIndex(i)) == nullptr) continue;
    AlikeNodes& alike = found[objects[*node].full_name()];
    if (alike.nodes.insert(*node).second) {
      alike.processes.push_back(database.threads()[objects[*node].process].id);
    }
    alike.are_confused = alike.are_confused || ids[i].find('#') != std::string::npos;
  }
  std::erase_if(found, [](const auto& named) { return named.second.nodes.size() < 2; });
  return found;
}

/// A line for each unclassifiable executor of the model.
std::vector<std::string> unclassifiable_lines(const model::Model& model) {
  std::vector<std::string> lines;
  for (const model::Executor& executor : model.executors) {
    // Opaque senders are there because of others.
    if (!executor.unclassifiable || executor.kind == model::ExecutorKind::event_source) continue;
    lines.push_back(
        fmt::format("executor {} is unclassifiable, so nothing is bounded that depends "
                    "on its callbacks: {}",
                    executor.id, *executor.unclassifiable));
  }
  return lines;
}

}  // namespace

std::vector<std::string> Synthesizer::left_out(const execution::Objects& objects) const {
  std::vector<std::string> ids;
  const auto all = execution::callback_ids(objects);
  for (const ObservedCallbackIndex callback : observations_.ran_before()) {
    if (observations_.callback(callback) == nullptr) {
      ids.push_back(all[callback.value()]);
    }
  }
  return ids;
}

void Synthesizer::on_instance(const execution::Database& database,
                              const execution::CallbackInstance& instance) {
  observations_.add(database, instance);
}

void Synthesizer::on_publication(const execution::Database& database,
                                 const execution::Publication& publication) {
  observations_.add(database, publication);
}

void Synthesizer::on_read(const execution::Database& database, const execution::Read& read) {
  observations_.add(database, read);
}

void Synthesizer::on_late_source(const execution::Database& database,
                                 execution::InstanceId instance, execution::PublicationId source) {
  observations_.add_source(database, instance, source);
}

void Synthesizer::on_steady_state(const execution::Database& /*database*/, Instant time) {
  observations_.restart(time);
}

Result<model::Model> Synthesizer::model(const events::EventStream& source,
                                        const execution::Database& database,
                                        const execution::Pass& pass, const Options& options) const {
  const auto steady_since = observations_.steady_since();
  Observations settled = observations_;
  settled.settle(database.objects());
  Builder builder(settled, database, steady_since.value_or(pass.first), pass.last,
                  options.chains_from ? &*options.chains_from : nullptr,
                  options.links ? &*options.links : nullptr);
  model::Model model = builder.build();
  if (model.callbacks.empty()) {
    return error(
        "{}: no callback ran in it{}; record rclcpp or Takt programs with the ros2 events, longer "
        "than their start-up, and start rclpy programs with 'takt record -- COMMAND'",
        source.inputs().front().path, steady_since ? " after start-up" : "");
  }
  model.name = options.name;

  nlohmann::ordered_json provenance = execution::provenance(source, database, pass, steady_since);
  provenance["losses"] = execution::losses(source, database);
  provenance["left_out"] = left_out(database.objects());
  provenance["observed"] = observed_json(builder);
  provenance["warnings"] = execution::warnings(source, database);
  for (const std::string& warning : builder.warnings()) provenance["warnings"].push_back(warning);
  for (const std::string& line : unclassifiable_lines(model))
    provenance["warnings"].push_back(line);
  provenance["alike_nodes"] = nlohmann::ordered_json::object();
  for (const auto& [node, alike] : alike_nodes(settled, database)) {
    provenance["alike_nodes"][node] = alike.processes;
    if (!alike.are_confused) continue;
    provenance["warnings"].push_back(fmt::format(
        "{} nodes are called {} (processes {}): what is alike of them is told apart by #2 … in the "
        "order in which it was made, and goals cannot tell them apart",
        alike.nodes.size(), node, fmt::join(alike.processes, ", ")));
  }
  const Observing& observing = settled.observing();
  if (observing.phases) {
    provenance["phases"] = phases_json(settled, database.objects(), pass.first);
  }
  if (observing.aging) {
    provenance["aging"] = aging_json(*observing.aging);
    provenance["warnings"].push_back(
        "execution times age: callbacks have taken longer than the model says, so its bounds hold "
        "only if they do not again");
  }
  if (options.chains_from) {
    provenance["chains_not_found"] = transfer(*options.chains_from, model);
  } else {
    if (!add_maximal_chains(model)) {
      provenance["warnings"].push_back(fmt::format(
          "the callback graph has more than the {} chains listed", model.chains.size()));
    }
  }
  if (options.supplies_from) {
    for (model::Executor& executor : model.executors) {
      const auto& known = options.supplies_from->executors;
      const auto same = std::ranges::find(known, executor.id, &model::Executor::id);
      if (same != known.end() && std::holds_alternative<model::DedicatedSupply>(executor.supply)) {
        executor.supply = same->supply;
      }
    }
  }
  provenance["service_calls"] = calls_json(settled, database.objects());
  provenance["actions"] = actions_json(model);
  provenance["threads"] = threads_json(builder, model, database);
  provenance["scheduling"] = scheduling_json(settled, database);
  provenance["callback_isolated"] = isolated_json(model);
  provenance["outliers"] = outliers_json(builder, pass.first);
  provenance["unnamed_work"] = unnamed_json(builder, model);
  provenance["filters"] = filters_json(builder, model);
  // Names come from the traced programs: what is not UTF-8 is replaced, not an error.
  model.provenance = json_text(provenance);
  return model;
}

}  // namespace takt::synthesis
