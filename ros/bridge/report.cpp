#include <nlohmann/json.hpp>

#include "bridge.hpp"

namespace takt::bridge {

namespace {

using nlohmann::json;

/// null: there was none.
json to_json(const statistics::Distribution& times) {
  if (times.count() == 0) return {};
  return {{"min", times.min().count()},
          {"mean", times.mean()},
          {"p50", times.quantile(0.5).count()},
          {"p99", times.quantile(0.99).count()},
          {"max", times.max().count()}};
}

}  // namespace

json Bridge::report() {
  std::vector<link::TaskCounts> tasks;
  std::vector<link::Inbox::Counts> inboxes;
  link_->with([&](link::FlowControl& flow) {
    for (const link::TaskIndex task : flow_.out_tasks) tasks.push_back(flow.counts(task));
    for (std::size_t p = 0; p < plan_.peers.size(); ++p) {
      inboxes.push_back(flow.received(link::PeerIndex(p)));
    }
  });
  json sent = json::array();
  json received = json::array();
  json peers = json::array();
  for (std::size_t p = 0; p < plan_.peers.size(); ++p) {
    const link::PeerIndex peer(p);
    const transport::ConnectionCounts counts = link_->counts(peer);
    peers.push_back({{"host", host_of(peer)},
                     {"connected", link_->connected(peer)},
                     {"connections", counts.sessions},
                     {"packets_sent", counts.packets_sent},
                     {"packets_repeated", counts.packets_repeated},
                     {"refused", counts.forged + counts.replayed + counts.malformed},
                     {"messages_rejected", inboxes[p].rejected},
                     {"messages_abandoned", inboxes[p].abandoned},
                     {"messages_missing", inboxes[p].missing}});
  }
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const link::TaskCounts& task = tasks[i];
    const Topic& topic = topic_of(plan_.out[i]);
    const std::uint64_t ended = task.delivered + task.rejected + task.lost + task.dropped;
    sent.push_back({{"topic", topic.name},
                    {"to", host_of(plan_.out[i].peer)},
                    {"priority", topic.priority},
                    {"published", out_[i].offered().has_value()},
                    {"taken", out_[i].taken},
                    {"missed", out_[i].missed},
                    {"sent", task.activations},
                    {"delivered", task.delivered},
                    {"waiting", task.activations - ended},
                    {"dropped", task.dropped + out_[i].no_room},
                    {"rejected", task.rejected},
                    {"too_large", out_[i].too_large},
                    {"resumed", task.resumed},
                    {"late", topic.latency ? json(latencies_[i].late) : json()},
                    {"latency", to_json(latencies_[i].times)}});
  }
  for (std::size_t i = 0; i < in_.size(); ++i) {
    received.push_back({{"topic", topic_of(plan_.in[i]).name},
                        {"from", host_of(plan_.in[i].peer)},
                        {"received", in_[i].received},
                        {"published", in_[i].published},
                        {"repeated", in_[i].repeated},
                        {"early", in_[i].early},
                        {"dropped", in_[i].dropped},
                        {"refused", in_[i].refused}});
  }
  return {{"sent", sent}, {"received", received}, {"peers", peers}};
}

}  // namespace takt::bridge
