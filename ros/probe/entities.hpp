#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "rclcpp/rclcpp.hpp"

namespace takt::probe {

/// In the order in which an executor looks at them.
enum class Kind { timer, subscription, service, client, waitable };
inline constexpr int kinds = 5;
/// As in timing models.
const char* name_of(Kind kind);

/// Where an entity belongs. Of the node `world`, which no executor may have, comes what makes it
/// ready.
struct Place {
  rclcpp::Node::SharedPtr node;
  rclcpp::Node::SharedPtr world;
  rclcpp::CallbackGroup::SharedPtr group;  ///< null: the node's own
};

/// Something that an executor runs, and that can be made ready. `pending` instances of it are.
class Entity {
 public:
  Entity(Kind of_kind, const Place& place, std::string called)
      : kind(of_kind),
        node(place.node->get_fully_qualified_name()),
        name(std::move(called)),
        group_(place.group) {}
  virtual ~Entity() = default;
  Entity(const Entity&) = delete;
  Entity& operator=(const Entity&) = delete;

  /// Makes one more instance ready. The executor may not have it yet.
  void send() {
    ++pending_;
    make();
  }
  /// The same, and returns when the executor's next wait finds the entity ready. An executor that
  /// waits meanwhile, in another thread, may take it before.
  void prepare() {
    send();
    settle();
  }
  /// Returns when the executor's next wait finds the entity ready if an instance of it is pending.
  /// Throws std::runtime_error after ten seconds.
  void settle() const;
  [[nodiscard]] int pending() const { return pending_; }
  /// Whether several instances of it may wait.
  [[nodiscard]] bool queues() const { return kind != Kind::timer && kind != Kind::waitable; }

  /// What events executors know it by.
  [[nodiscard]] virtual const void* key() const = 0;

  const Kind kind;
  const std::string node;
  const std::string name;
  /// What its callback does. `pending` does not count the instance any more.
  std::function<void(Entity&)> work = [](Entity&) {};

 protected:
  /// An instance runs.
  void ran() {
    --pending_;
    work(*this);
  }

 private:
  virtual void make() = 0;
  [[nodiscard]] virtual bool is_ready() const = 0;

  /// Nodes do not keep their groups.
  const rclcpp::CallbackGroup::SharedPtr group_;
  std::atomic<int> pending_ = 0;
};

/// A new entity of the kind; `name` occurs once in its node. Returns when its peers in `world` have
/// discovered it. Throws std::runtime_error after ten seconds.
std::unique_ptr<Entity> make_entity(Kind kind, const Place& place, const std::string& name);

}  // namespace takt::probe
