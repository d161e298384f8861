#include "takt/execution/summary.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "takt/execution/names.hpp"
#include "takt/execution/provenance.hpp"

namespace takt::execution {
namespace {

using Json = nlohmann::ordered_json;

template <typename T, typename Tag>
T& at(std::vector<T>& list, Index<Tag> index) {
  if (index.value() >= list.size()) {
    list.resize(index.value() + 1);
  }
  return list[index.value()];
}

template <typename T, typename Tag>
T value_at(const std::vector<T>& list, Index<Tag> index) {
  return index.value() < list.size() ? list[index.value()] : T{};
}

const char* to_string(CallbackKind kind) {
  switch (kind) {
    case CallbackKind::timer:
      return "timer";
    case CallbackKind::subscription:
      return "subscription";
    case CallbackKind::service:
      return "service";
    case CallbackKind::unknown:
      break;
  }
  return "unknown";
}

Json node_json(const Objects& objects, const std::optional<NodeIndex>& node) {
  return node ? Json(objects[*node].full_name()) : Json();
}

Json gid_json(const Gid& gid) {
  return gid == Gid{} ? Json() : Json(fmt::format("{:016x}{:016x}", gid[0], gid[1]));
}

Json places_json(const events::Source& source, const Objects& objects) {
  const events::Threads& threads = source.threads();
  Json json;
  json["hosts"] = Json::array();
  for (const events::Host& host : threads.hosts()) {
    json["hosts"].push_back({{"name", host.name}, {"clock", host.clock}});
  }
  json["processes"] = Json::array();
  for (std::size_t i = 0; i < threads.processes().size(); ++i) {
    const events::Process& process = threads.processes()[i];
    if (process.id == 0 && process.name.empty() && threads.processes().size() > 1) {
      continue;  // the kernel, whose events name their threads in their fields
    }
    std::size_t count = 0;
    for (const events::Thread& thread : threads.threads()) {
      count += thread.process == ProcessIndex(i) ? 1u : 0u;
    }
    json["processes"].push_back(
        {{"name", process.name},
         {"pid", process.id},
         {"host", threads[process.host].name},
         {"threads", count},
         {"tracetools", value_at(objects.tracetools_versions, ProcessIndex(i))}});
  }
  json["nodes"] = Json::array();
  for (const Node& node : objects.nodes) {
    json["nodes"].push_back({{"name", node.full_name()},
                             {"process", threads[node.process].name},
                             {"pid", threads[node.process].id}});
  }
  return json;
}

Json execution_time_json(const Distribution& times, std::uint64_t with_cpu_time) {
  if (times.count() == 0) {
    return {};
  }
  return {{"source", with_cpu_time == times.count() ? "thread_cpu_time"
                     : with_cpu_time == 0           ? "wall_time"
                                                    : "mixed"},
          {"min", times.min().count()},
          {"mean", times.mean().count()},
          {"p50", times.percentile(0.50).count()},
          {"p99", times.percentile(0.99).count()},
          {"max", times.max().count()}};
}

}  // namespace

void Summary::on_instance(const CallbackInstance& instance) {
  executors_.on_instance(instance);
  CallbackCounts& counts = at(callbacks_, instance.callback);
  counts.execution_time.add(instance.execution_time());
  counts.with_cpu_time += instance.cpu_time ? 1u : 0u;
}

void Summary::on_publication(const Publication& publication) {
  if (publication.publisher && !publication.repeats_intra_process) {
    ++at(publications_, *publication.publisher);
  }
}

void Summary::on_take(SubscriptionIndex subscription, Instant, PublicationId) {
  ++at(takes_, subscription);
}

std::string Summary::to_json(const events::Source& source, const Interpreter& interpreter,
                             const Pass& pass) const {
  const Objects& objects = interpreter.objects();
  const events::Threads& threads = source.threads();
  const events::Losses& losses = source.losses();
  const auto counts = source.counts();

  Json json{{"format", "takt/info"}, {"version", 1}};
  json["inputs"] = Json::array();
  for (const events::Input& input : source.inputs()) {
    json["inputs"].push_back(
        {{"path", input.path}, {"bytes", input.bytes}, {"fingerprint", input.fingerprint}});
  }
  std::uint64_t total = 0;
  for (const auto& [name, count] : counts) {
    total += count;
  }
  json["events"] = total;
  json["discarded"] = losses.discarded_events;
  json["discarded_packets"] = losses.discarded_packets;
  json["unreadable_bytes"] = losses.unreadable_bytes;
  json["duration"] = (pass.last - pass.first).count();
  json["begin"] = (pass.first.time_since_epoch() + source.epoch_offset()).count();
  json["by_name"] = counts;
  json.update(places_json(source, objects));

  struct TopicCounts {
    std::uint64_t publishers = 0;
    std::uint64_t subscriptions = 0;
    std::uint64_t publications = 0;
    std::uint64_t takes = 0;
  };
  std::vector<TopicCounts> topics(objects.topics.size());
  Json publishers = Json::array();
  for (std::size_t i = 0; i < objects.publishers.size(); ++i) {
    const Publisher& publisher = objects.publishers[i];
    const std::uint64_t count = value_at(publications_, PublisherIndex(i));
    topics[publisher.topic.value()].publishers += 1;
    topics[publisher.topic.value()].publications += count;
    publishers.push_back({{"node", node_json(objects, publisher.node)},
                          {"topic", objects[publisher.topic]},
                          {"queue_depth", publisher.queue_depth},
                          {"gid", gid_json(publisher.gid)},
                          {"count", count}});
  }
  Json subscriptions = Json::array();
  for (std::size_t i = 0; i < objects.subscriptions.size(); ++i) {
    const Subscription& subscription = objects.subscriptions[i];
    const std::uint64_t count = value_at(takes_, SubscriptionIndex(i));
    topics[subscription.topic.value()].subscriptions += 1;
    topics[subscription.topic.value()].takes += count;
    subscriptions.push_back({{"node", node_json(objects, subscription.node)},
                             {"topic", objects[subscription.topic]},
                             {"queue_depth", subscription.queue_depth},
                             {"gid", gid_json(subscription.gid)},
                             {"count", count}});
  }
  json["topics"] = Json::array();
  for (std::size_t i = 0; i < topics.size(); ++i) {
    if (topics[i].publishers + topics[i].subscriptions != 0) {  // else the name of a service
      json["topics"].push_back({{"name", objects.topics[i]},
                                {"publishers", topics[i].publishers},
                                {"subscriptions", topics[i].subscriptions},
                                {"publications", topics[i].publications},
                                {"takes", topics[i].takes}});
    }
  }
  json["publishers"] = std::move(publishers);
  json["subscriptions"] = std::move(subscriptions);

  const std::vector<std::string> ids = callback_ids(objects);
  json["timers"] = Json::array();
  for (const Timer& timer : objects.timers) {
    json["timers"].push_back({{"node", node_json(objects, timer.node)},
                              {"period", timer.period.count()},
                              {"callback", ids[timer.callback.value()]}});
  }
  json["services"] = Json::array();
  for (const Service& service : objects.services) {
    json["services"].push_back({{"node", node_json(objects, service.node)},
                                {"name", objects[service.name]},
                                {"callback", ids[service.callback.value()]}});
  }
  json["clients"] = Json::array();
  for (const Client& client : objects.clients) {
    json["clients"].push_back(
        {{"node", node_json(objects, client.node)}, {"name", objects[client.name]}});
  }

  const std::vector<Executor> executors = executors_.executors(objects, threads);
  const std::vector<std::string> executor_names = executor_ids(executors, threads);
  std::vector<Json> executor_of(objects.callbacks.size());
  json["callbacks"] = Json::array();
  Json executors_json = Json::array();
  for (std::size_t i = 0; i < executors.size(); ++i) {
    Json members = Json::array();
    for (const CallbackIndex callback : executors[i].callbacks) {
      executor_of[callback.value()] = executor_names[i];
      members.push_back(ids[callback.value()]);
    }
    Json thread_ids = Json::array();
    for (const ThreadIndex thread : executors[i].threads) {
      thread_ids.push_back(threads[thread].id);
    }
    executors_json.push_back({{"id", executor_names[i]},
                              {"kind", executors[i].kind()},
                              {"process", threads[executors[i].process].name},
                              {"pid", threads[executors[i].process].id},
                              {"threads", thread_ids},
                              {"callbacks", members}});
  }
  for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
    const Callback& callback = objects.callbacks[i];
    const auto topic = objects.topic_of(callback);
    const CallbackCounts none;
    const CallbackCounts& ran = i < callbacks_.size() ? callbacks_[i] : none;
    json["callbacks"].push_back(
        {{"id", ids[i]},
         {"name", display_name(objects, callback)},
         {"kind", to_string(callback.kind)},
         {"node", node_json(objects, objects.node_of(callback))},
         {"topic", topic ? Json(objects[*topic]) : Json()},
         {"period", callback.timer ? Json(objects[*callback.timer].period.count()) : Json()},
         {"executor", executor_of[i]},
         {"count", ran.execution_time.count()},
         {"execution_time", execution_time_json(ran.execution_time, ran.with_cpu_time)}});
  }
  json["executors"] = std::move(executors_json);
  json["message_links"] = objects.message_links.size();
  json["recoveries"] = Json::array();
  for (const Recovery& recovery : objects.recoveries) {
    json["recoveries"].push_back({{"process", threads[recovery.process].name},
                                  {"pid", threads[recovery.process].id},
                                  {"objects", recovery.objects},
                                  {"unknown", recovery.unknown}});
  }
  json["anomalies"] = Json::object();
  for (const auto& [name, count] : interpreter.anomalies().list()) {
    json["anomalies"][std::string(name)] = count;
  }
  json["warnings"] = warnings(source, interpreter);
  json["seconds"] = {{"read", pass.read_seconds}, {"interpret", pass.interpret_seconds}};
  // Names come from the traced programs: what is not UTF-8 is replaced, not an error.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace takt::execution
