#pragma once

#include <optional>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/linux/thread_scheduling.hpp"
#include "takt/scheduling/description.hpp"
#include "takt/time/time.hpp"

namespace takt::estimator {

/// The settings that the command line asks for.
struct Settings {
  std::string document;
  std::string name = "/estimator";
  /// None: the wait set executor of ROS 2.
  std::optional<scheduling::Rule> rule;
  std::optional<linux_os::ThreadScheduling> scheduling;
};

constexpr const char* usage =
    "takt-estimator HANDOFF [--name NAME] [--executor single_threaded|events|fixed_priority|edf|"
    "chain_priority|graph_aware] [--reservation BUDGET_NS PERIOD_NS | --priority N]";

[[nodiscard]] Result<Settings> parse_settings(const std::vector<std::string>& arguments);

}  // namespace takt::estimator
