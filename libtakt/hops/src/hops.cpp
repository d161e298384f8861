#include "takt/hops/hops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "takt/model/link_times.hpp"
#include "takt/model/topics.hpp"
#include "takt/time/time.hpp"

namespace takt::hops {

using model::CallbackIndex;
using model::Edge;
using model::ExecutorIndex;
using model::Model;

namespace {

class Insertion {
 public:
  Insertion(const Model& original, const BeforeLink& before)
      : original_(original),
        before_(before),
        result_{original, original.executors.size(), original.callbacks.size(), {}} {
    for (const model::Callback& callback : original.callbacks) ids_.insert(callback.id);
  }

  ModelWithHops run() {
    add_links();
    add_hops();
    for (Edge& edge : result_.model.edges) lead_triggers(edge);
    lead_joins();
    lead_chains();
    return std::move(result_);
  }

 private:
  using Way = std::pair<CallbackIndex, CallbackIndex>;
  /// Edges that are equal in all this send one message together.
  using Key = std::tuple<model::LinkIndex, CallbackIndex, std::string, std::int64_t, std::int64_t,
                         std::optional<std::vector<CallbackIndex>>, std::optional<std::int64_t>,
                         std::optional<std::int64_t>>;

  void add_links() {
    for (const model::Link& link : original_.links) {
      model::Executor& executor = result_.model.executors.emplace_back();
      executor.id = link.id;
      executor.name = link.id;
      executor.kind = model::ExecutorKind::fixed_priority;
      executor.longest_piece = model::longest_chunk_time(link);
    }
    result_.model.links.clear();
  }

  void add_hops() {
    std::vector<Edge> edges;
    std::vector<std::size_t> sent;  // by hop: the edge to it
    std::map<Key, CallbackIndex> known;
    for (const Edge& edge : original_.edges) {
      if (!edge.link) {
        edges.push_back(edge);
        continue;
      }
      const Key key{*edge.link,    edge.from,         model::topic_name(original_, edge),
                    edge.priority, edge.message_size, edge.triggered_by,
                    edge.messages, edge.instances};
      const auto [found, is_new] =
          known.try_emplace(key, CallbackIndex{result_.model.callbacks.size()});
      const CallbackIndex hop = found->second;
      if (is_new) {
        add_hop(edge);
        sent.push_back(edges.size());
        Edge& sending = edges.emplace_back(edge);
        sending.to = hop;
        sending.link.reset();
        sending.confidence.reset();
      }
      // A message to several receivers has passed the part before the link once, so this part is
      // no longer than the shortest of their delays.
      Duration& shortest = edges[sent[hop.value() - result_.callbacks]].delay;
      shortest = std::min(shortest, edge.delay);
      result_.hops[hop.value() - result_.callbacks].to.push_back(edge.to);
      hop_between_[{edge.from, edge.to}] = hop;
      Edge& receiving = edges.emplace_back(edge);
      receiving.from = hop;
      receiving.link.reset();
      // Which instances send was decided before the link.
      receiving.triggered_by.reset();
      receiving.messages.reset();
      receiving.instances.reset();
    }
    for (const std::size_t edge : sent) edges[edge].delay = before_(edges[edge].delay);
    for (Edge& edge : edges) {
      if (result_.is_hop(edge.from)) {
        edge.delay -= edges[sent[edge.from.value() - result_.callbacks]].delay;
      }
    }
    result_.model.edges = std::move(edges);
  }

  void add_hop(const Edge& edge) {
    const model::Link& link = original_[*edge.link];
    const std::string topic = model::topic_name(original_, edge);
    model::Callback& hop = result_.model.callbacks.emplace_back();
    hop.name = fmt::format("{} from {} on {}", topic, original_[edge.from].id, link.id);
    hop.id = hop.name;
    for (std::size_t n = 2; !ids_.insert(hop.id).second; ++n) {
      hop.id = fmt::format("{} ({})", hop.name, n);
    }
    hop.executor = ExecutorIndex{result_.executors + edge.link->value()};
    hop.kind = model::CallbackKind::subscription;
    hop.topic = topic;
    hop.registration = static_cast<std::int64_t>(result_.hops.size());
    hop.execution_time = {model::message_time(link, edge.message_size)};
    hop.priority = edge.priority;
    result_.hops.push_back({.link = *edge.link, .from = edge.from, .topic = topic, .to = {}});
  }

  /// The callback whose messages reach `to` where the original model says `from`.
  [[nodiscard]] CallbackIndex sender(CallbackIndex from, CallbackIndex to) const {
    const auto hop = hop_between_.find({from, to});
    return hop == hop_between_.end() ? from : hop->second;
  }

  void lead_triggers(Edge& edge) const {
    if (!edge.triggered_by) return;
    for (CallbackIndex& trigger : *edge.triggered_by) trigger = sender(trigger, edge.from);
  }

  void lead_joins() {
    for (model::Join& join : result_.model.joins) {
      for (CallbackIndex& input : join.inputs) input = sender(input, join.callback);
      for (CallbackIndex& input : join.completed_by) input = sender(input, join.callback);
    }
  }

  void lead_chains() {
    for (model::Chain& chain : result_.model.chains) {
      std::vector<CallbackIndex> way;
      for (const CallbackIndex next : chain.callbacks) {
        if (!way.empty()) {
          const CallbackIndex from = sender(way.back(), next);
          if (from != way.back()) way.push_back(from);
        }
        way.push_back(next);
      }
      chain.callbacks = std::move(way);
    }
  }

  const Model& original_;
  const BeforeLink& before_;
  ModelWithHops result_;
  std::map<Way, CallbackIndex> hop_between_;
  std::set<std::string> ids_;
};

}  // namespace

bool has_hops(const Model& model) {
  return std::ranges::any_of(model.edges, [](const Edge& edge) { return edge.link.has_value(); });
}

ModelWithHops with_hops(const Model& model, const BeforeLink& before) {
  return Insertion(model, before).run();
}

}  // namespace takt::hops
