#include <cstdio>
#include <exception>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/component_manager.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "takt/rclcpp/executors.hpp"

// takt_component_container --plan PLAN [--executor ID]
//
// rclcpp's component container, except that a plan decides what runs next. Components are loaded as
// into any other container, by launch files or `ros2 component load`.

namespace {

constexpr const char* usage =
    "takt_component_container --plan PLAN [--executor ID]: runs components by an executor of a "
    "plan "
    "that 'takt plan MODEL -o PLAN' has written; ID may be left out if the plan has one executor";

struct Arguments {
  std::string plan;
  std::string executor;
};

/// Throws std::invalid_argument with a line that says what is wrong.
Arguments parse(const std::vector<std::string>& given) {
  Arguments arguments;
  for (std::size_t i = 1; i < given.size(); ++i) {
    if (given[i] != "--plan" && given[i] != "--executor") {
      throw std::invalid_argument("unknown argument '" + given[i] + "'; " + usage);
    }
    if (i + 1 == given.size()) throw std::invalid_argument(given[i] + " lacks its value; " + usage);
    (given[i] == "--plan" ? arguments.plan : arguments.executor) = given[i + 1];
    ++i;
  }
  if (arguments.plan.empty()) throw std::invalid_argument(std::string("no plan; ") + usage);
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int bad_input = 2;
  try {
    const Arguments arguments = parse(rclcpp::init_and_remove_ros_arguments(argc, argv));
    auto executor =
        std::make_shared<takt::rclcpp::PlannedExecutor>(arguments.plan, arguments.executor);
    auto manager = std::make_shared<rclcpp_components::ComponentManager>(executor);
    executor->add_node(manager);
    executor->spin();
  } catch (const std::invalid_argument& wrong) {
    std::fprintf(stderr, "takt_component_container: %s\n", wrong.what());
    return bad_input;
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "takt_component_container: %s\n", thrown.what());
    return 1;
  }
  rclcpp::shutdown();
  return 0;
}
