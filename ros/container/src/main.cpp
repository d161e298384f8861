#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/component_manager.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "takt/rclcpp/executors.hpp"
#include "takt/rclcpp/isolated_executors.hpp"

// takt_component_container --plan PLAN [--executor ID]
// takt_component_container --isolate component|group [--plan PLAN]
//
// rclcpp's component container, except that a plan decides what runs next, or that each component
// or callback group has an executor with a thread of its own. Components are loaded as into any
// other container, by launch files or `ros2 component load`.

namespace {

using takt::rclcpp::IsolatedExecutors;
using takt::rclcpp::Isolation;

constexpr const char* usage =
    "takt_component_container --plan PLAN [--executor ID]: runs components by an executor of a "
    "plan that 'takt plan MODEL -o PLAN' has written; ID may be left out if the plan has one "
    "executor. takt_component_container --isolate component|group [--plan PLAN]: an executor with "
    "a "
    "thread of its own for each component, or each callback group, as the executor of the plan "
    "decides that names its callbacks";

struct Arguments {
  std::string plan;
  std::string executor;
  std::string isolate;

  [[nodiscard]] Isolation isolation() const {
    return isolate == "group" ? Isolation::callback_group : Isolation::node;
  }
};

/// Where the value of that argument goes; null: there is no such argument.
std::string* value_of(const std::string& name, Arguments& arguments) {
  if (name == "--plan") return &arguments.plan;
  if (name == "--executor") return &arguments.executor;
  if (name == "--isolate") return &arguments.isolate;
  return nullptr;
}

/// Throws std::invalid_argument with a line that says what is wrong.
Arguments parse(const std::vector<std::string>& given) {
  Arguments arguments;
  for (std::size_t i = 1; i < given.size(); i += 2) {
    std::string* const value = value_of(given[i], arguments);
    if (value == nullptr) {
      throw std::invalid_argument("unknown argument '" + given[i] + "'; " + usage);
    }
    if (i + 1 == given.size()) throw std::invalid_argument(given[i] + " lacks its value; " + usage);
    *value = given[i + 1];
  }
  if (arguments.isolate.empty()) {
    if (arguments.plan.empty()) throw std::invalid_argument(std::string("no plan; ") + usage);
  } else if (arguments.isolate != "component" && arguments.isolate != "group") {
    throw std::invalid_argument("--isolate " + arguments.isolate +
                                ": is neither component nor group; " + usage);
  } else if (!arguments.executor.empty()) {
    throw std::invalid_argument(std::string("--isolate: the plan says which executor; ") + usage);
  }
  return arguments;
}

/// The executor of a component or a callback group: the plan's, if it names its callbacks.
std::shared_ptr<rclcpp::Executor> make_executor(
    const std::string& plan, const rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node,
    const IsolatedExecutors::Groups& groups) {
  const std::string id =
      plan.empty() ? std::string() : takt::rclcpp::planned_executor(plan, node, groups);
  if (!id.empty()) return std::make_shared<takt::rclcpp::PlannedExecutor>(plan, id);
  takt::rclcpp::Options options;
  options.name = node->get_fully_qualified_name();
  return std::make_shared<takt::rclcpp::EventsExecutor>(options);
}

/// A container whose components have executors of their own.
class IsolatedManager final : public rclcpp_components::ComponentManager {
 public:
  IsolatedManager(const std::shared_ptr<rclcpp::Executor>& own, Isolation isolation,
                  IsolatedExecutors::Make make, std::function<void(std::exception_ptr)> failed)
      : ComponentManager(own),
        executors_(
            std::make_unique<IsolatedExecutors>(isolation, std::move(make), std::move(failed))) {}

  ~IsolatedManager() override {
    executors_.reset();
    // The base would take them from the container's own executor, which has none of them.
    node_wrappers_.clear();
  }

  IsolatedManager(const IsolatedManager&) = delete;
  IsolatedManager& operator=(const IsolatedManager&) = delete;

 protected:
  void add_node_to_executor(std::uint64_t id) override {
    executors_->add_node(node_wrappers_.at(id).get_node_base_interface());
  }
  void remove_node_from_executor(std::uint64_t id) override {
    executors_->remove_node(node_wrappers_.at(id).get_node_base_interface());
  }

 private:
  std::unique_ptr<IsolatedExecutors> executors_;
};

void run_by_plan(const Arguments& arguments) {
  auto executor =
      std::make_shared<takt::rclcpp::PlannedExecutor>(arguments.plan, arguments.executor);
  auto manager = std::make_shared<rclcpp_components::ComponentManager>(executor);
  executor->add_node(manager);
  executor->spin();
}

/// What a callback throws on any thread comes out here.
void run_isolated(const Arguments& arguments) {
  auto executor = std::make_shared<takt::rclcpp::EventsExecutor>();
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto failed = [&](const std::exception_ptr& exception) {
    const std::scoped_lock lock(mutex);
    if (!thrown) thrown = exception;
    // It also ends a spin() that has not begun yet.
    rclcpp::shutdown();
  };
  const auto make = [&](const auto& node, const auto& groups) {
    return make_executor(arguments.plan, node, groups);
  };
  {
    auto manager = std::make_shared<IsolatedManager>(executor, arguments.isolation(), make, failed);
    executor->add_node(manager);
    executor->spin();
    executor->remove_node(manager);
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int bad_input = 2;
  try {
    const Arguments arguments = parse(rclcpp::init_and_remove_ros_arguments(argc, argv));
    arguments.isolate.empty() ? run_by_plan(arguments) : run_isolated(arguments);
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
