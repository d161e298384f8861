#include "joins.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "takt/flow/join_state.hpp"
#include "takt/model/topics.hpp"

namespace takt::synthesis {
namespace {

using Members = std::set<CallbackIndex>;

constexpr std::uint32_t nothing = 0;  // number of the empty output set

/// Plays the log as if `members` were a join that publishes `output` when complete; the join if all
/// runs agree.
std::optional<ObservedJoin> try_join(const Log& log, const Members& members, std::uint32_t output,
                                     model::JoinKind kind) {
  ObservedJoin join{kind, {members.begin(), members.end()}, {}};
  flow::JoinState state(kind, members.size());
  Duration cost{};
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const Log::Entry& entry = log.entries[i];
    const auto member = std::lower_bound(join.members.begin(), join.members.end(), entry.callback);
    if (member == join.members.end() || *member != entry.callback) {
      continue;
    }
    const bool completes = state.arrive(static_cast<std::size_t>(member - join.members.begin()));
    if (output != nothing && completes != (entry.outputs == output)) {
      return std::nullopt;
    }
    cost += entry.execution_time;
    if (completes) {
      if (i >= log.steady_from) {
        join.execution_time.add(cost);
      }
      cost = Duration(0);
    }
  }
  return join.execution_time.empty() ? std::nullopt : std::optional(join);
}

/// What the members publish when they publish, if that is always the same.
std::optional<std::uint32_t> common_output(const Log& log, const Members& members) {
  std::set<std::uint32_t> outputs;
  for (const Log::Entry& entry : log.entries) {
    if (members.contains(entry.callback)) {
      outputs.insert(entry.outputs);
    }
  }
  outputs.erase(nothing);
  if (outputs.size() > 1) {
    return std::nullopt;
  }
  return outputs.empty() ? nothing : *outputs.begin();
}

void find_declared(const Log& log, const std::string& node, const execution::Objects& objects,
                   const model::Model& model, std::vector<ObservedJoin>& joins) {
  for (const model::Join& declared : model.joins) {
    if (model::node_name(model[declared.callback]) != node) {
      continue;
    }
    const std::set<std::string> topics = model::subscribed_topics(model, declared.callback);
    Members members;
    for (const Log::Entry& entry : log.entries) {
      if (topics.contains(objects[*objects.topic_of(objects[entry.callback])])) {
        members.insert(entry.callback);
      }
    }
    const auto output = common_output(log, members);
    if (members.size() != topics.size() || members.size() < 2 || !output) {
      continue;
    }
    if (auto join = try_join(log, members, *output, declared.kind)) {
      joins.push_back(std::move(*join));
    }
  }
}

}  // namespace

std::vector<ObservedJoin> find_joins(const Observations& observations,
                                     const execution::Objects& objects,
                                     const model::Model* declared) {
  std::vector<ObservedJoin> joins;
  if (declared == nullptr) {
    return joins;
  }
  for (const auto& [node, log] : observations.logs()) {
    find_declared(log, objects[node].full_name(), objects, *declared, joins);
  }
  return joins;
}

}  // namespace takt::synthesis
