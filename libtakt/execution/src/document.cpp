#include "takt/execution/document.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "takt/base/grow.hpp"
#include "takt/base/json_text.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/provenance.hpp"

namespace takt::execution {
namespace {

using Json = nlohmann::ordered_json;

Json node_json(const Objects& objects, const std::optional<NodeIndex>& node) {
  return node ? Json(objects[*node].full_name()) : Json();
}

Json gid_json(const Gid& gid) {
  return gid == Gid{} ? Json() : Json(fmt::format("{:016x}{:016x}", gid[0], gid[1]));
}

/// Hosts, processes and nodes.
void add_places(Json& json, const events::Threads& threads, const Objects& objects) {
  json["hosts"] = Json::array();
  for (const events::Host& host : threads.hosts()) {
    json["hosts"].push_back({{"name", host.name}, {"clock", host.clock}});
  }
  std::vector<std::size_t> thread_counts(threads.processes().size());
  for (const events::Thread& thread : threads.threads()) {
    ++thread_counts[thread.process.value()];
  }
  std::vector<std::size_t> node_counts(threads.processes().size());
  for (const Node& node : objects.nodes) {
    if (!node.continues) ++node_counts[node.process.value()];
  }
  json["processes"] = Json::array();
  for (std::size_t i = 0; i < threads.processes().size(); ++i) {
    const events::Process& process = threads.processes()[i];
    if (process.id == 0 && process.name.empty() && threads.processes().size() > 1) {
      continue;  // the kernel, whose events name their threads in their fields
    }
    json["processes"].push_back(
        {{"name", process.name},
         {"pid", process.id},
         {"host", threads[process.host].name},
         {"threads", thread_counts[i]},
         {"nodes", node_counts[i]},
         {"tracetools", value_at(objects.tracetools_versions, ProcessIndex(i))}});
  }
  json["nodes"] = Json::array();
  for (const Node& node : objects.nodes) {
    if (node.continues) continue;
    const events::Process& process = threads[node.process];
    json["nodes"].push_back({{"name", node.full_name()},
                             {"process", process.name},
                             {"pid", process.id},
                             {"host", threads[process.host].name}});
  }
}

/// Topics, publishers and subscriptions.
void add_traffic(Json& json, const Objects& objects, const Summary& summary) {
  struct TopicCounts {
    std::uint64_t publishers = 0;
    std::uint64_t subscriptions = 0;
    std::uint64_t publications = 0;
    std::uint64_t takes = 0;
    std::uint64_t left_out = 0;  // publishers and subscriptions, as the user wanted it
  };
  std::vector<TopicCounts> topics(objects.topics.size());
  const auto endpoint_json = [&objects](const auto& endpoint, std::uint64_t count) {
    return Json{{"node", node_json(objects, endpoint.node)},
                {"topic", objects[endpoint.topic]},
                {"queue_depth", endpoint.queue_depth},
                {"gid", gid_json(endpoint.gid)},
                {"count", count}};
  };
  Json publishers = Json::array();
  // What a node sent before it ended counts for the publisher with which it came back.
  std::map<std::pair<NodeIndex, TopicIndex>, std::uint64_t> before;
  const auto is_former = [&](const Publisher& publisher) {
    return publisher.since < objects[*publisher.node].since;
  };
  for (const Publisher& publisher : objects.publishers) {
    if (publisher.node && !is_former(publisher)) before[{*publisher.node, publisher.topic}] = 0;
  }
  for (std::size_t i = 0; i < objects.publishers.size(); ++i) {
    const Publisher& publisher = objects.publishers[i];
    std::uint64_t count = value_at(summary.publications, PublisherIndex(i));
    const auto again =
        publisher.node ? before.find({*publisher.node, publisher.topic}) : before.end();
    if (again != before.end()) {
      if (is_former(publisher)) {
        again->second += count;
        continue;
      }
      count += std::exchange(again->second, 0);
    }
    topics[publisher.topic.value()].publishers += 1;
    topics[publisher.topic.value()].publications += count;
    topics[publisher.topic.value()].left_out +=
        objects.is_left_out(publisher.node, publisher.topic) ? 1U : 0U;
    publishers.push_back(endpoint_json(publisher, count));
  }
  Json subscriptions = Json::array();
  std::map<ObservedCallbackIndex, std::uint64_t> takes;
  for (std::size_t i = 0; i < objects.subscriptions.size(); ++i) {
    takes[objects.subscriptions[i].callback] += value_at(summary.takes, SubscriptionIndex(i));
  }
  for (std::size_t i = 0; i < objects.subscriptions.size(); ++i) {
    const Subscription& subscription = objects.subscriptions[i];
    if (objects[subscription.callback].subscription != SubscriptionIndex(i)) continue;
    const std::uint64_t count = takes[subscription.callback];
    topics[subscription.topic.value()].subscriptions += 1;
    topics[subscription.topic.value()].takes += count;
    topics[subscription.topic.value()].left_out +=
        objects.is_left_out(subscription.node, subscription.topic) ? 1U : 0U;
    subscriptions.push_back(endpoint_json(subscription, count));
  }
  json["topics"] = Json::array();
  for (std::size_t i = 0; i < topics.size(); ++i) {
    if (topics[i].publishers + topics[i].subscriptions != 0) {  // else the name of a service
      json["topics"].push_back({{"name", objects.topics[i]},
                                {"publishers", topics[i].publishers},
                                {"subscriptions", topics[i].subscriptions},
                                {"publications", topics[i].publications},
                                {"takes", topics[i].takes},
                                {"left_out", topics[i].left_out}});
    }
  }
  json["publishers"] = std::move(publishers);
  json["subscriptions"] = std::move(subscriptions);
}

/// Timers, services and clients. `ids` are those of the callbacks.
void add_timers_and_services(Json& json, const Objects& objects,
                             const std::vector<std::string>& ids) {
  json["timers"] = Json::array();
  for (std::size_t i = 0; i < objects.timers.size(); ++i) {
    const Timer& timer = objects.timers[i];
    if (objects[timer.callback].timer != TimerIndex(i)) continue;
    json["timers"].push_back({{"node", node_json(objects, timer.node)},
                              {"period", timer.period.count()},
                              {"callback", ids[timer.callback.value()]}});
  }
  json["services"] = Json::array();
  for (std::size_t i = 0; i < objects.services.size(); ++i) {
    const Service& service = objects.services[i];
    if (objects[service.callback].service != ServiceIndex(i)) continue;
    json["services"].push_back({{"node", node_json(objects, service.node)},
                                {"name", objects[service.name]},
                                {"callback", ids[service.callback.value()]}});
  }
  json["clients"] = Json::array();
  for (std::size_t i = 0; i < objects.clients.size(); ++i) {
    const Client& client = objects.clients[i];
    if (objects[client.callback].client != ClientIndex(i)) continue;
    json["clients"].push_back(
        {{"node", node_json(objects, client.node)}, {"name", objects[client.name]}});
  }
}

Json execution_time_json(const Summary::CallbackActivity& activity) {
  const statistics::Distribution& times = activity.execution_time;
  if (times.count() == 0) {
    return {};
  }
  return {{"source", activity.totals.source()},  {"min", times.min().count()},
          {"mean", std::llround(times.mean())},  {"p50", times.quantile(0.50).count()},
          {"p99", times.quantile(0.99).count()}, {"max", times.max().count()}};
}

/// Callbacks and the executors that ran them.
void add_callbacks(Json& json, const Database& database, const Summary& summary,
                   const std::vector<std::string>& ids) {
  const Objects& objects = database.objects();
  const events::Threads& threads = database.threads();
  const std::vector<Executor> executors = summary.executors.executors(objects, threads);
  const std::vector<std::string> executor_names = executor_ids(executors, threads);
  std::vector<Json> executor_of(objects.callbacks.size());
  Json executors_json = Json::array();
  for (std::size_t i = 0; i < executors.size(); ++i) {
    Json members = Json::array();
    for (const ObservedCallbackIndex callback : executors[i].callbacks) {
      executor_of[callback.value()] = executor_names[i];
      members.push_back(ids[callback.value()]);
    }
    Json thread_ids = Json::array();
    Json scheduling = Json::array();
    for (const ThreadIndex thread : executors[i].threads) {
      thread_ids.push_back(threads[thread].id);
      scheduling.push_back(schedule_json(database, thread));
    }
    executors_json.push_back({{"id", executor_names[i]},
                              {"kind", executors[i].kind()},
                              {"process", threads[executors[i].process].name},
                              {"pid", threads[executors[i].process].id},
                              {"threads", thread_ids},
                              {"scheduling", scheduling},
                              {"callbacks", members}});
  }
  json["callbacks"] = Json::array();
  for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
    const Callback& callback = objects.callbacks[i];
    if (callback.continues) continue;
    const auto topic = objects.topic_of(callback);
    const auto activity = value_at(summary.callbacks, ObservedCallbackIndex(i));
    json["callbacks"].push_back(
        {{"id", ids[i]},
         {"name", display_name(objects, callback)},
         {"kind", to_string(callback.kind)},
         {"node", node_json(objects, objects.node_of(callback))},
         {"topic", topic ? Json(objects[*topic]) : Json()},
         {"period", callback.timer ? Json(objects[*callback.timer].period.count()) : Json()},
         {"executor", executor_of[i]},
         {"count", activity.execution_time.count()},
         {"left_out", objects.is_left_out(callback)},
         {"execution_time", execution_time_json(activity)}});
  }
  json["executors"] = std::move(executors_json);
}

Json recoveries_json(const Database& database) {
  Json json = Json::array();
  for (const Recovery& recovery : database.objects().recoveries) {
    const events::Process& process = database.threads()[recovery.process];
    json.push_back({{"process", process.name},
                    {"pid", process.id},
                    {"objects", recovery.objects},
                    {"unknown", recovery.unknown}});
  }
  return json;
}

/// Processes with ROS 2 that are not in the recording, or not from their beginning.
Json unrecorded_json(const Database& database) {
  Json json = Json::array();
  for (const Unrecorded& found : database.objects().unrecorded) {
    const events::Process& process = database.threads()[found.process];
    json.push_back({{"process", process.name}, {"pid", process.id}, {"why", found.why}});
  }
  return json;
}

}  // namespace

std::string to_json(const events::EventStream& source, const Database& database, const Pass& pass,
                    const Summary& summary) {
  const Objects& objects = database.objects();
  const events::StreamLosses& losses = source.losses();
  const auto counts = source.counts();
  const std::vector<std::string> ids = callback_ids(objects);

  Json json{{"format", "takt/info"}, {"version", 1}};
  json["inputs"] = inputs(source);
  json["events"] =
      std::accumulate(counts.begin(), counts.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
  json["discarded"] = losses.discarded_events;
  json["discarded_packets"] = losses.discarded_packets;
  json["unreadable_bytes"] = losses.unreadable_bytes;
  json["duration"] = (pass.last - pass.first).count();
  json["begin"] = (pass.first.time_since_epoch() + source.epoch_offset()).count();
  json["by_name"] = counts;
  add_places(json, database.threads(), objects);
  add_traffic(json, objects, summary);
  add_timers_and_services(json, objects, ids);
  add_callbacks(json, database, summary, ids);
  json["message_links"] = objects.message_links.size();
  json["recoveries"] = recoveries_json(database);
  json["unrecorded"] = unrecorded_json(database);
  json["selection"] = {{"include", objects.selection.include},
                       {"exclude", objects.selection.exclude}};
  json["repeated"] = {{"packets", source.repeated().packets}, {"events", source.repeated().events}};
  json["anomalies"] = Json::object();
  for (const auto& [name, count] : database.anomalies().list()) {
    json["anomalies"][std::string(name)] = count;
  }
  json["warnings"] = warnings(source, database);
  json["seconds"] = {{"read", pass.read_seconds}, {"interpret", pass.interpret_seconds}};
  // Names come from the traced programs: what is not UTF-8 is replaced, not an error.
  return json_text(json);
}

}  // namespace takt::execution
