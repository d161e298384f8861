#pragma once

#include <rcutils/logging_macros.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "removable.hpp"
#include "takt/base/ring.hpp"
#include "takt/executor/decision_trace.hpp"
#include "takt/executor/executable.hpp"

namespace takt::rclcpp {

/// How many messages may wait for their instances where nothing limits them.
inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// Makes an entity that messages activate an executable. Messages of instances that run oldest
/// first stay where they are until these run. Otherwise each message is taken when the executor
/// learns of it and is bound to the instance that it activates. The oldest gives way where the
/// entity's queue has no room. The entity may go at any time, and its instances with it.
///
/// `Adapter` derives from it and says how the entity is used, so that the compiler sees all of what
/// runs a message:
///
///   watch(entity, arrived), unwatch(entity): begins and ends the reports of messages;
///   each_activates(): whether all messages activate the callback, otherwise take() tells of each;
///   take(entity, taken): false: there is no message, or none that activates the callback;
///   handle(entity, taken): runs the callback.
///
/// `Taken` is a taken message: movable, and empty when default-constructed. Its address() is where
/// the message stays until it is handled.
template <typename Adapter, typename Entity, typename Taken>
class MessageAdapter : public executor::MessageExecutable, public Removable {
 public:
  [[nodiscard]] Result<void> notify(Arrived arrived) final {
    const std::shared_ptr<Entity> entity = entity_.lock();
    if (!entity) return {};
    try {
      if (arrived) {
        adapter().watch(*entity, std::move(arrived));
      } else {
        adapter().unwatch(*entity);
      }
    } catch (const std::exception& thrown) {
      return error("cannot be told of what comes for an entity: {}", thrown.what());
    }
    return {};
  }

  void set_workers(std::size_t count) final { chosen_.resize(count); }

  [[nodiscard]] std::size_t room(scheduling::Queueing queueing) const final {
    return queueing == scheduling::Queueing::oldest_first && adapter().each_activates() ? depth_
                                                                                        : 0;
  }

  [[nodiscard]] Result<Admitted> admit(scheduling::Queueing /*queueing*/) final {
    const bool has_room = kept_.size() < depth_;
    if (!keep_next()) return Admitted{};
    if (!has_room) drop_oldest();
    return Admitted{.activates = has_room};
  }

  void choose(scheduling::Queueing queueing, std::size_t newer, std::size_t worker) final {
    if (kept_.empty()) return;
    std::optional<Taken>& chosen = chosen_[worker];
    if (queueing == scheduling::Queueing::oldest_first) {
      kept_.pop_front(chosen.emplace());
    } else {
      kept_.take(std::min(newer, kept_.size() - 1), chosen.emplace());
    }
    while (queueing == scheduling::Queueing::newest_only && !kept_.empty()) drop_oldest();
  }

  [[nodiscard]] Result<void> run(std::size_t worker) final {
    std::optional<Taken>& chosen = chosen_[worker];
    const std::shared_ptr<Entity> entity = entity_.lock();
    if (chosen) {
      Taken taken = *std::exchange(chosen, std::nullopt);
      if (!entity || is_removed()) return {};
      executor::trace_chosen(taken.address());
      adapter().handle(*entity, taken);
    } else if (entity && !is_removed()) {
      Taken taken;
      if (try_take(*entity, taken)) adapter().handle(*entity, taken);
    }
    return {};
  }

  [[nodiscard]] const void* source() const final { return source_; }

 protected:
  explicit MessageAdapter(const std::shared_ptr<Entity>& entity, std::size_t depth = unlimited)
      : entity_(entity), source_(entity.get()), depth_(depth) {}

  [[nodiscard]] bool each_activates() const { return true; }

 private:
  Adapter& adapter() { return static_cast<Adapter&>(*this); }
  const Adapter& adapter() const { return static_cast<const Adapter&>(*this); }

  /// As in rclcpp's executors, a message that cannot be taken is reported and the rest goes on.
  [[nodiscard]] bool try_take(Entity& entity, Taken& taken) {
    try {
      return adapter().take(entity, taken);
    } catch (const std::exception& thrown) {
      report(thrown);
      return false;
    }
  }

  /// Out of the way of messages that can be taken: reporting takes much of the stack.
  [[gnu::noinline]] static void report(const std::exception& thrown) {
    RCUTILS_LOG_ERROR_NAMED("takt", "cannot take a message: %s", thrown.what());
  }

  /// False: there is none that activates the callback.
  [[nodiscard]] bool keep_next() {
    const std::shared_ptr<Entity> entity = entity_.lock();
    Taken taken;
    if (!entity || !try_take(*entity, taken)) return false;
    executor::trace_kept(taken.address());
    kept_.push_back(taken);
    return true;
  }

  void drop_oldest() {
    Taken dropped;
    kept_.pop_front(dropped);
  }

  std::weak_ptr<Entity> entity_;
  const void* source_;
  std::size_t depth_;
  Ring<Taken> kept_{4};
  /// By worker; none: left for it to take.
  std::vector<std::optional<Taken>> chosen_{1};
};

}  // namespace takt::rclcpp
