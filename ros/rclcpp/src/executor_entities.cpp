#include "executor_entities.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "request_adapters.hpp"
#include "subscription_adapter.hpp"
#include "timer_adapter.hpp"
#include "waitable_adapter.hpp"

namespace takt::rclcpp {

using scheduling::LocalIndex;

/// Makes that list.
class Adapters::Listing {
 public:
  Listing(Adapters& adapters, ::rclcpp::Context& context)
      : adapters_(adapters), context_(context) {}

  void add_group(const ::rclcpp::CallbackGroup::SharedPtr& added, const std::string& node) {
    const ::rclcpp::CallbackGroup& group = *added;
    node_ = node;
    of_groups_.push_back({.group = added, .executables = {}});
    const std::size_t first = listed_.callbacks.size();
    group.collect_all_ptrs(
        [this](const auto& subscription) { add_subscription(subscription); },
        [this](const auto& service) {
          add(service, executable<ServiceAdapter>(service), service->get_service_name());
        },
        [this](const auto& client) {
          add(client, executable<ClientAdapter>(client), client->get_service_name());
        },
        [this](const auto& timer) { add_timer(timer); },
        [this](const auto& waitable) { add_waitable(waitable); });
    std::vector<LocalIndex> members;
    for (std::size_t i = first; i < listed_.callbacks.size(); ++i) members.emplace_back(i);
    if (group.type() == ::rclcpp::CallbackGroupType::MutuallyExclusive) {
      listed_.groups.exclusive.push_back(std::move(members));
    } else {
      listed_.groups.reentrant.insert(listed_.groups.reentrant.end(), members.begin(),
                                      members.end());
    }
  }

  [[nodiscard]] ExecutorEntities take() {
    adapters_.listed_ = std::move(of_groups_);
    return std::move(listed_);
  }

 private:
  /// The executable of an entity: the one that it has, or a new one.
  template <typename Adapter, typename T, typename... Arguments>
  Adapter& executable(const std::shared_ptr<T>& entity, Arguments&... arguments) {
    auto& known = adapters_.adapters_[entity];
    if (known && known->is_removed()) adapters_.replaced_.push_back(std::move(known));
    if (!known) known = std::make_unique<Adapter>(entity, arguments...);
    of_groups_.back().executables.push_back(known.get());
    return dynamic_cast<Adapter&>(*known);
  }

  template <typename T>
  LocalIndex add(const std::shared_ptr<T>& entity, executor::Executable& executable,
                 const std::string& topic = {}) {
    const LocalIndex index(listed_.callbacks.size());
    listed_.callbacks.push_back(
        {.entity = entity, .category = executable.category(), .node = node_, .topic = topic});
    listed_.executables.push_back({.executable = &executable, .callback = index});
    return index;
  }

  void add_timer(const ::rclcpp::TimerBase::SharedPtr& timer) {
    auto& adapter = executable<TimerAdapter>(timer);
    const LocalIndex index = add(timer, adapter);
    listed_.callbacks[index.value()].period = adapter.period();
  }

  void add_subscription(const ::rclcpp::SubscriptionBase::SharedPtr& subscription) {
    const LocalIndex index =
        add(subscription, executable<SubscriptionAdapter>(subscription, context_),
            subscription->get_topic_name());
    const ::rclcpp::Waitable::SharedPtr within = subscription->get_intra_process_waitable();
    if (within) subscriptions_.emplace(within, index);
  }

  /// Groups list subscriptions before waitables.
  void add_waitable(const ::rclcpp::Waitable::SharedPtr& waitable) {
    const auto within = std::dynamic_pointer_cast<WithinProcessAdapter::Subscription>(waitable);
    if (!within) {
      add(waitable, executable<WaitableAdapter>(waitable));
      return;
    }
    auto& adapter = executable<WithinProcessAdapter>(within);
    const auto subscription = subscriptions_.find(waitable);
    if (subscription != subscriptions_.end()) {
      listed_.executables.push_back({.executable = &adapter, .callback = subscription->second});
    } else {
      // Its subscription is being destroyed.
      add(waitable, adapter);
    }
  }

  Adapters& adapters_;
  ::rclcpp::Context& context_;
  ExecutorEntities listed_;
  std::vector<Listed> of_groups_;
  /// Whose group is being listed.
  std::string node_;
  /// By the waitable through which messages come within the process.
  std::map<Entity, LocalIndex> subscriptions_;
};

ExecutorEntities Adapters::list(std::span<const ::rclcpp::CallbackGroup::WeakPtr> groups,
                                const Nodes& nodes, ::rclcpp::Context& context) {
  std::map<const ::rclcpp::CallbackGroup*, std::string> owners;
  for (const auto& weak : nodes) {
    const ::rclcpp::node_interfaces::NodeBaseInterface::SharedPtr node = weak.lock();
    if (!node) continue;
    node->for_each_callback_group([&](const ::rclcpp::CallbackGroup::SharedPtr& group) {
      owners[group.get()] = node->get_fully_qualified_name();
    });
  }
  Listing listing(*this, context);
  for (const ::rclcpp::CallbackGroup::WeakPtr& weak : groups) {
    const ::rclcpp::CallbackGroup::SharedPtr group = weak.lock();
    if (group) listing.add_group(group, owners[group.get()]);
  }
  return listing.take();
}

void Adapters::remove_others(std::span<const ::rclcpp::CallbackGroup::WeakPtr> groups) {
  for (const Listed& listed : listed_) {
    const ::rclcpp::CallbackGroup::SharedPtr group = listed.group.lock();
    const bool stays =
        std::ranges::any_of(groups, [&](const auto& other) { return other.lock() == group; });
    if (stays) continue;
    for (Removable* const executable : listed.executables) executable->remove();
  }
}

void Adapters::keep_only(const ExecutorEntities& listed) {
  replaced_.clear();
  std::erase_if(adapters_, [&](const auto& adapter) {
    return std::ranges::find(listed.executables, adapter.second.get(),
                             &executor::ScheduledExecutable::executable) ==
           listed.executables.end();
  });
}

}  // namespace takt::rclcpp
