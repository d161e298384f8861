#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/goals/goals.hpp"
#include "takt/manager/decision.hpp"
#include "takt/manager/situation.hpp"

namespace takt::manager {

/// The answers of the estimators that goals name, when they were asked for their cheap mode. The
/// process that started this program speaks with them: they are nodes of ROS 2, and this is not.
class Estimators {
 public:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::vector<Estimator> of(const goals::Goals& goals) const;
  /// The nodes that are to be asked now. An answer is good for `interval`: an estimator leaves its
  /// cheap mode by itself.
  [[nodiscard]] std::vector<std::string> due(const Decision& decision, Clock::time_point now,
                                             Clock::duration interval);
  /// Takes in "NODE accepted" or "NODE refused REASON". Returns whether the answer is a new one.
  /// Error: it is no answer of a node that was asked.
  [[nodiscard]] Result<bool> answered(std::string_view answer);

 private:
  struct Asked {
    Clock::time_point when;
    CheapMode answer = CheapMode::asked;
    std::string reason;
  };
  std::map<std::string, Asked, std::less<>> asked_;
};

}  // namespace takt::manager
