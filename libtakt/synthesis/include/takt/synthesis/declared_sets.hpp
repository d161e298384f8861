#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "takt/execution/curves.hpp"
#include "takt/execution/database.hpp"
#include "takt/links/held_messages.hpp"

namespace takt::synthesis {

using execution::ObservedCallbackIndex;

/// The costs of the sets of declared joins (takt:inputs_linked). If a join publishes nothing, only
/// this shows when a set is complete.
class DeclaredSets {
 public:
  /// A subscription ran for so long.
  void add(const execution::Objects& objects, const execution::CallbackInstance& instance);
  /// Forgets the costs of the joins that have a concerned member, but not which messages they hold.
  void restart(const std::function<bool(ObservedCallbackIndex)>& is_concerned);

  /// The cost of the sets of the join with these members; null if none was complete.
  [[nodiscard]] const execution::CostCurve* cost(
      const std::set<ObservedCallbackIndex>& members) const;

 private:
  struct Join {
    std::vector<ObservedCallbackIndex> members;
    links::HeldMessages<links::MessageCount> held;
    links::SetsOnArrival on_arrival{};
    /// By member: what its runs cost since the last set.
    std::vector<Duration> since;
    execution::CostCurve cost;
  };

  void learn(const execution::Objects& objects);

  std::vector<Join> joins_;
  std::map<ObservedCallbackIndex, std::size_t> join_of_;
  /// Links that have been looked at.
  std::size_t known_ = 0;
};

}  // namespace takt::synthesis
