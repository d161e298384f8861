#pragma once

#include <rcutils/logging_macros.h>

#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "takt/executor/decision_trace.hpp"
#include "takt/executor/executable.hpp"
#include "takt/executor/ring.hpp"

namespace takt::rclcpp {

/// How many messages may wait for their instances where nothing limits them.
inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// Makes an entity that messages activate an executable. Each message is taken when the executor
/// learns of it and stays bound to the instance that it activates; the oldest gives way where the
/// entity's queue has no room. The entity may go at any time, and its instances with it.
///
/// `Taken` is a taken message: movable, and empty when default-constructed. Its address() is where
/// the message stays until it is handled.
template <typename Entity, typename Taken>
class MessageAdapter : public executor::MessageExecutable {
 public:
  [[nodiscard]] Result<void> notify(Arrived arrived) final {
    const std::shared_ptr<Entity> entity = entity_.lock();
    if (!entity) return {};
    try {
      if (arrived) {
        watch(*entity, std::move(arrived));
      } else {
        unwatch(*entity);
      }
    } catch (const std::exception& thrown) {
      return error("cannot be told of what comes for an entity: {}", thrown.what());
    }
    return {};
  }

  void set_workers(std::size_t count) final { chosen_.resize(count); }

  [[nodiscard]] Result<Admitted> admit() final {
    Taken taken;
    if (!try_take(taken)) return Admitted{};
    const bool has_room = waiting_.size() < depth_;
    if (!has_room) drop_oldest();
    executor::trace_kept(taken.address());
    waiting_.push_back(taken);
    return Admitted{.activates = has_room};
  }

  void choose(scheduling::Queueing queueing, std::size_t worker) final {
    if (queueing == scheduling::Queueing::oldest_first) {
      waiting_.pop_front(chosen_[worker]);
      return;
    }
    waiting_.pop_back(chosen_[worker]);
    while (queueing == scheduling::Queueing::newest_only && !waiting_.empty()) drop_oldest();
  }

  [[nodiscard]] Result<void> run(std::size_t worker) final {
    Taken taken = std::exchange(chosen_[worker], Taken{});
    const std::shared_ptr<Entity> entity = entity_.lock();
    if (!entity) return {};
    executor::trace_chosen(taken.address());
    handle(*entity, taken);
    return {};
  }

 protected:
  explicit MessageAdapter(const std::shared_ptr<Entity>& entity, std::size_t depth = unlimited)
      : entity_(entity), depth_(depth) {}

  virtual void watch(Entity& entity, Arrived arrived) = 0;
  virtual void unwatch(Entity& entity) = 0;
  /// False: there is no message, or none that activates the callback.
  [[nodiscard]] virtual bool take(Entity& entity, Taken& taken) = 0;
  virtual void handle(Entity& entity, Taken& taken) = 0;

 private:
  /// As in rclcpp's executors, a message that cannot be taken is reported and the rest goes on.
  [[nodiscard]] bool try_take(Taken& taken) {
    const std::shared_ptr<Entity> entity = entity_.lock();
    if (!entity) return false;
    try {
      return take(*entity, taken);
    } catch (const std::exception& thrown) {
      RCUTILS_LOG_ERROR_NAMED("takt", "cannot take a message: %s", thrown.what());
      return false;
    }
  }

  void drop_oldest() {
    Taken dropped;
    waiting_.pop_front(dropped);
  }

  std::weak_ptr<Entity> entity_;
  std::size_t depth_;
  executor::Ring<Taken> waiting_{4};
  /// By worker.
  std::vector<Taken> chosen_ = std::vector<Taken>(1);
};

}  // namespace takt::rclcpp
