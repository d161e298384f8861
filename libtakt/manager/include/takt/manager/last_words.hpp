#pragma once

#include <set>
#include <string>

#include "takt/manager/decision.hpp"

namespace takt::manager {

/// What is to be said at the end: programs end before their manager does, and that they have ended
/// is not what people ask then. Each chain keeps its last state from while its programs ran, and
/// each executor of theirs its reservation. A promise that broke after the last decision is none.
class LastWords {
 public:
  /// `ended`: ids of executors whose programs have ended.
  void decided(const Decision& decision, const std::set<std::string>& ended);
  /// The promise of the last decision for that chain does not hold any more.
  void broke(const std::string& chain, const std::string& reason);
  [[nodiscard]] const Decision& words() const { return words_; }

 private:
  Decision words_;
};

}  // namespace takt::manager
