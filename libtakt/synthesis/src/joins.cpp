#include "joins.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "takt/flow/join_state.hpp"

namespace takt::synthesis {
namespace {

constexpr std::uint32_t nothing = 0;  // position of the empty output set

/// Plays the log as if `members` were a join with the given output; the join if all runs agree.
std::optional<NewestJoin> try_join(const std::vector<LogEntry>& log,
                                   const std::set<CallbackIndex>& members, std::uint32_t output) {
  NewestJoin join{{members.begin(), members.end()}, {}};
  flow::JoinState state(model::JoinKind::newest, members.size());
  bool synchronised = false;  // which messages are kept at the beginning is not known
  std::size_t completions = 0;
  Duration cost{};
  for (const LogEntry& entry : log) {
    const auto member = std::lower_bound(join.members.begin(), join.members.end(), entry.callback);
    if (member == join.members.end() || *member != entry.callback) {
      continue;
    }
    cost += entry.execution_time;
    const bool publishes = entry.outputs == output;
    if (!synchronised) {
      synchronised = publishes;
      cost = publishes ? Duration(0) : cost;
      continue;
    }
    if (state.arrive(static_cast<std::size_t>(member - join.members.begin())) != publishes) {
      return std::nullopt;
    }
    if (publishes) {
      join.execution_time.add(cost);
      cost = Duration(0);
      ++completions;
    }
  }
  return completions >= least_completions ? std::optional(join) : std::nullopt;
}

void find_joins(const std::vector<LogEntry>& log, std::vector<NewestJoin>& joins) {
  std::map<CallbackIndex, std::set<std::uint32_t>> outputs_of;
  for (const LogEntry& entry : log) {
    outputs_of[entry.callback].insert(entry.outputs);
  }
  std::map<std::uint32_t, std::set<CallbackIndex>> publishers_of;
  std::set<CallbackIndex> silent;
  for (const auto& [callback, outputs] : outputs_of) {
    if (outputs == std::set{nothing}) {
      silent.insert(callback);
    } else if (outputs.size() == 2 && outputs.contains(nothing)) {
      publishers_of[*outputs.rbegin()].insert(callback);
    } else if (outputs.size() == 1) {
      // Publishes at every run, so it can only be the last input of a join in all of them.
      publishers_of[*outputs.begin()].insert(callback);
    }
  }
  for (const auto& [output, publishers] : publishers_of) {
    const bool always = std::all_of(publishers.begin(), publishers.end(), [&](CallbackIndex c) {
      return outputs_of[c].size() == 1;
    });
    if (always) {
      continue;
    }
    std::set<CallbackIndex> with_silent = publishers;
    with_silent.insert(silent.begin(), silent.end());
    for (const auto& members : {publishers, with_silent}) {
      if (members.size() < 2) {
        continue;
      }
      if (auto join = try_join(log, members, output)) {
        joins.push_back(std::move(*join));
        break;
      }
    }
  }
}

}  // namespace

std::vector<NewestJoin> find_joins(const Observations& observations) {
  std::vector<NewestJoin> joins;
  for (const auto& [node, log] : observations.logs()) {
    find_joins(log, joins);
  }
  return joins;
}

}  // namespace takt::synthesis
