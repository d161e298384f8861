#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/events/schema.hpp"
#include "takt/events/source.hpp"

namespace takt::test {

using events::EventType;
using events::ThreadIndex;

/// A process of a scenario with one thread; handles are made up as needed.
struct Program {
  ThreadIndex thread;
  std::uint64_t next_handle = 0x1000;

  std::uint64_t handle() { return next_handle += 0x10; }
};

struct Subscription {
  std::uint64_t handle = 0;
  std::uint64_t rmw_handle = 0;
  std::uint64_t callback = 0;
};

struct Publisher {
  std::uint64_t handle = 0;
  std::uint64_t rmw_handle = 0;
};

/// A trace made by hand, event by event: it is the source of its events, in the order they were
/// added. Times are in microseconds; `now` goes on by hand.
class Scenario final : public events::Source {
 public:
  std::int64_t now = 0;

  Program program(std::int64_t process_id, const std::string& host = "robot",
                  const std::string& name = "program") {
    return {threads_.thread(threads_.host(host, "clock of " + host), process_id, process_id, name)};
  }
  /// Another thread of the program's process.
  Program worker(const Program& program, std::int64_t thread_id) {
    const events::Thread& thread = threads_[program.thread];
    const events::Process& process = threads_[thread.process];
    return {threads_.thread(process.host, process.id, thread_id, "worker"), 0x900000};
  }

  void add(const Program& program, EventType type, std::initializer_list<std::uint64_t> values,
           std::vector<std::string> texts = {},
           std::vector<std::vector<std::uint64_t>> lists = {}) {
    events::Event event;
    event.time = Instant(std::chrono::microseconds(now));
    event.thread = program.thread;
    event.type = type;
    std::copy(values.begin(), values.end(), event.values.begin());
    if (!texts.empty() || !lists.empty()) {
      event.payload = static_cast<std::uint32_t>(batch_.payloads.size());
      events::Payload& payload = batch_.payloads.emplace_back();
      std::copy(texts.begin(), texts.end(), payload.texts.begin());
      std::copy(lists.begin(), lists.end(), payload.lists.begin());
    }
    batch_.events.push_back(event);
    ++counts_[std::string(events::schema(type).name)];
  }

  std::uint64_t node(Program& program, const std::string& name,
                     const std::string& name_space = "/") {
    const std::uint64_t handle = program.handle();
    add(program, EventType::rcl_node_init, {handle, program.handle()}, {name, name_space});
    return handle;
  }

  Publisher publisher(Program& program, std::uint64_t node, const std::string& topic) {
    const Publisher publisher{program.handle(), program.handle()};
    add(program, EventType::rmw_publisher_init, {publisher.rmw_handle, 1, publisher.rmw_handle});
    add(program, EventType::rcl_publisher_init, {publisher.handle, node, publisher.rmw_handle, 10},
        {topic});
    return publisher;
  }

  Subscription subscription(Program& program, std::uint64_t node, const std::string& topic,
                            const std::string& symbol = "Node::on_message()") {
    const Subscription made{program.handle(), program.handle(), program.handle()};
    const std::uint64_t object = program.handle();
    add(program, EventType::rmw_subscription_init, {made.rmw_handle, 2, made.rmw_handle});
    add(program, EventType::rcl_subscription_init, {made.handle, node, made.rmw_handle, 5},
        {topic});
    add(program, EventType::rclcpp_subscription_init, {made.handle, object});
    add(program, EventType::rclcpp_subscription_callback_added, {object, made.callback});
    add(program, EventType::rclcpp_callback_register, {made.callback}, {symbol});
    return made;
  }

  /// Returns the callback.
  std::uint64_t timer(Program& program, std::uint64_t node, std::chrono::nanoseconds period,
                      const std::string& symbol = "Node::on_timer()") {
    const std::uint64_t handle = program.handle();
    const std::uint64_t callback = program.handle();
    add(program, EventType::rcl_timer_init, {handle, static_cast<std::uint64_t>(period.count())});
    add(program, EventType::rclcpp_timer_callback_added, {handle, callback});
    add(program, EventType::rclcpp_callback_register, {callback}, {symbol});
    add(program, EventType::rclcpp_timer_link_node, {handle, node});
    return callback;
  }

  void start(const Program& program, std::uint64_t callback, bool intra_process = false) {
    add(program, EventType::callback_start, {callback, intra_process ? 1u : 0u});
  }
  void end(const Program& program, std::uint64_t callback) {
    add(program, EventType::callback_end, {callback});
  }

  /// All three layers of a publication; returns nothing, the stamp identifies the message.
  void publish(const Program& program, const Publisher& publisher, std::int64_t stamp,
               std::uint64_t message = 0xabc) {
    add(program, EventType::rclcpp_publish, {message});
    add(program, EventType::rcl_publish, {publisher.handle, message});
    add(program, EventType::rmw_publish,
        {publisher.rmw_handle, message, static_cast<std::uint64_t>(stamp)});
  }

  void take(const Program& program, const Subscription& subscription, std::int64_t stamp,
            bool taken = true) {
    add(program, EventType::rmw_take,
        {subscription.rmw_handle, 0xdef, static_cast<std::uint64_t>(stamp), taken ? 1u : 0u});
  }

  /// Takes a message and runs the callback, from now for `length` µs, publishing at its end.
  void handle(const Program& program, const Subscription& subscription, std::int64_t stamp,
              std::int64_t length, std::optional<std::pair<Publisher, std::int64_t>> output = {}) {
    take(program, subscription, stamp);
    run(program, subscription.callback, length, output);
  }
  void run(const Program& program, std::uint64_t callback, std::int64_t length,
           std::optional<std::pair<Publisher, std::int64_t>> output = {}) {
    start(program, callback);
    now += length;
    if (output) {
      publish(program, output->first, output->second);
    }
    end(program, callback);
  }

  bool read(events::Batch& batch) override {
    batch.clear();
    if (was_read_ || batch_.events.empty()) {
      return false;
    }
    batch = batch_;
    return was_read_ = true;
  }
  Position position() const override { return {}; }
  std::map<std::string, std::uint64_t> counts() const override { return counts_; }

  Scenario() { inputs_.push_back({"scenario", 0, "0"}); }
  events::Losses& lose() { return losses_; }
  void rewind() { was_read_ = false; }

 private:
  events::Batch batch_;
  bool was_read_ = false;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace takt::test
