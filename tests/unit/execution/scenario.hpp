#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/events/event_stream.hpp"
#include "takt/events/fields.hpp"
#include "takt/events/schema.hpp"

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

struct Service {
  std::uint64_t handle = 0;
  std::uint64_t rmw_handle = 0;
  std::uint64_t callback = 0;
};

struct Client {
  std::uint64_t rmw_handle = 0;
  std::array<std::uint64_t, 2> gid{};
};

/// A trace made by hand, event by event: it is the source of its events, in the order they were
/// added. Times are in microseconds; `now` goes on by hand.
class Scenario final : public events::EventStream {
 public:
  std::int64_t now = 0;
  std::uint16_t processor = 0;

  Program program(events::ProcessId process, const std::string& host = "robot",
                  const std::string& name = "program") {
    return {
        threads_.thread(threads_.host(host, "clock of " + host), process, process.number, name)};
  }
  /// Another thread of the program's process.
  Program worker(const Program& program, std::int64_t thread_id) {
    const events::Thread& thread = threads_[program.thread];
    const events::Process& process = threads_[thread.process];
    return {threads_.thread(process.host, process.id, thread_id, "worker"), 0x900000};
  }

  /// Declares that messages which the thread sends while no callback runs come from outside the
  /// model.
  void leave_out(const Program& program) {
    add(program, tracepoints::ExecutorInit{.executor = "outside",
                                           .kind = "outside",
                                           .timers = "polled",
                                           .threads = 1,
                                           .policy = "other"});
  }

  template <typename Fields>
  void add(const Program& program, const Fields& fields) {
    events::Event& event = events::append(batch_, fields);
    event.time = Instant(std::chrono::microseconds(now));
    event.thread = program.thread;
    event.cpu = processor;
    ++counts_[events::schema(event.type).name];
  }
  /// The same with the fields in the order of the event's schema.
  void add(const Program& program, EventType type, const std::vector<std::uint64_t>& values,
           std::vector<std::string> texts = {},
           std::vector<std::vector<std::uint64_t>> lists = {}) {
    events::Event event;
    event.time = Instant(std::chrono::microseconds(now));
    event.thread = program.thread;
    event.cpu = processor;
    event.type = type;
    std::copy(values.begin(), values.end(), event.values.begin());
    if (!texts.empty() || !lists.empty()) {
      event.payload = static_cast<std::uint32_t>(batch_.payloads.size());
      events::Payload& payload = batch_.payloads.emplace_back();
      std::copy(texts.begin(), texts.end(), payload.texts.begin());
      std::copy(lists.begin(), lists.end(), payload.lists.begin());
    }
    batch_.events.push_back(event);
    ++counts_[events::schema(type).name];
  }

  std::uint64_t node(Program& program, const std::string& name,
                     const std::string& name_space = "/") {
    const std::uint64_t handle = program.handle();
    add(program, tracepoints::RclNodeInit{.node_handle = handle,
                                          .rmw_handle = program.handle(),
                                          .node_name = name,
                                          .name_space = name_space});
    return handle;
  }

  Publisher publisher(Program& program, std::uint64_t node, const std::string& topic) {
    const Publisher publisher{program.handle(), program.handle()};
    add(program, tracepoints::RmwPublisherInit{.rmw_publisher_handle = publisher.rmw_handle,
                                               .gid = {1, publisher.rmw_handle}});
    add(program, tracepoints::RclPublisherInit{.publisher_handle = publisher.handle,
                                               .node_handle = node,
                                               .rmw_publisher_handle = publisher.rmw_handle,
                                               .topic_name = topic,
                                               .queue_depth = 10});
    return publisher;
  }

  Subscription subscription(Program& program, std::uint64_t node, const std::string& topic,
                            const std::string& symbol = "Node::on_message()",
                            std::uint64_t queue_depth = 5) {
    const Subscription made{program.handle(), program.handle(), program.handle()};
    const std::uint64_t object = program.handle();
    add(program, tracepoints::RmwSubscriptionInit{.rmw_subscription_handle = made.rmw_handle,
                                                  .gid = {2, made.rmw_handle}});
    add(program, tracepoints::RclSubscriptionInit{.subscription_handle = made.handle,
                                                  .node_handle = node,
                                                  .rmw_subscription_handle = made.rmw_handle,
                                                  .topic_name = topic,
                                                  .queue_depth = queue_depth});
    add(program, tracepoints::RclcppSubscriptionInit{.subscription_handle = made.handle,
                                                     .subscription = object});
    add(program, tracepoints::RclcppSubscriptionCallbackAdded{.subscription = object,
                                                              .callback = made.callback});
    add(program, tracepoints::RclcppCallbackRegister{.callback = made.callback, .symbol = symbol});
    return made;
  }

  /// Returns the callback.
  std::uint64_t timer(Program& program, std::uint64_t node, std::chrono::nanoseconds period,
                      const std::string& symbol = "Node::on_timer()") {
    const std::uint64_t handle = program.handle();
    const std::uint64_t callback = program.handle();
    add(program, tracepoints::RclTimerInit{.timer_handle = handle, .period = period.count()});
    add(program,
        tracepoints::RclcppTimerCallbackAdded{.timer_handle = handle, .callback = callback});
    add(program, tracepoints::RclcppCallbackRegister{.callback = callback, .symbol = symbol});
    add(program, tracepoints::RclcppTimerLinkNode{.timer_handle = handle, .node_handle = node});
    return callback;
  }

  /// A service whose callback events name, as rclcpp's and Takt's do.
  Service service(Program& program, std::uint64_t node, const std::string& name) {
    Service made = silent_service(program, node, name);
    made.callback = program.handle();
    add(program, tracepoints::RclcppServiceCallbackAdded{.service_handle = made.handle,
                                                         .callback = made.callback});
    return made;
  }
  /// A service whose callback no event names, as those of actions.
  Service silent_service(Program& program, std::uint64_t node, const std::string& name) {
    const Service made{program.handle(), program.handle(), 0};
    add(program, tracepoints::RclServiceInit{.service_handle = made.handle,
                                             .node_handle = node,
                                             .rmw_service_handle = made.rmw_handle,
                                             .service_name = name});
    return made;
  }

  Client client(Program& program, std::uint64_t node, const std::string& name) {
    // Handles are unique within a process only.
    const Client made{program.handle(), {3 + program.thread.value(), program.handle()}};
    add(program, tracepoints::RmwClientInit{.rmw_client_handle = made.rmw_handle, .gid = made.gid});
    add(program, tracepoints::RclClientInit{.client_handle = program.handle(),
                                            .node_handle = node,
                                            .rmw_client_handle = made.rmw_handle,
                                            .service_name = name});
    return made;
  }

  void send_request(const Program& program, const Client& client, std::int64_t sequence) {
    add(program, tracepoints::RmwSendRequest{.rmw_client_handle = client.rmw_handle,
                                             .sequence_number = sequence});
  }
  void take_request(const Program& program, const Service& service, const Client& client,
                    std::int64_t sequence) {
    add(program, tracepoints::RmwTakeRequest{.rmw_service_handle = service.rmw_handle,
                                             .client_gid = client.gid,
                                             .sequence_number = sequence,
                                             .taken = true});
  }
  void send_response(const Program& program, const Service& service, const Client& client,
                     std::int64_t sequence) {
    add(program, tracepoints::RmwSendResponse{.rmw_service_handle = service.rmw_handle,
                                              .client_gid = client.gid,
                                              .sequence_number = sequence});
  }
  void take_response(const Program& program, const Client& client, std::int64_t sequence) {
    add(program,
        tracepoints::RmwTakeResponse{
            .rmw_client_handle = client.rmw_handle, .sequence_number = sequence, .taken = true});
  }
  /// The service's callback takes a request, in `length` µs, and the executor sends what it
  /// returned.
  void serve(const Program& program, const Service& service, const Client& client,
             std::int64_t sequence, std::int64_t length) {
    take_request(program, service, client, sequence);
    start(program, service.callback);
    now += length;
    end(program, service.callback);
    send_response(program, service, client, sequence);
  }
  /// An executor of rclcpp looks for what to run next, or waits.
  void look(const Program& program) { add(program, tracepoints::RclcppExecutorGetNextReady{}); }
  void wait(const Program& program) { add(program, tracepoints::RclcppExecutorWaitForWork{}); }
  /// rclcpp runs a client's callback, which no event names.
  void respond(const Program& program, const Client& client, std::int64_t sequence,
               std::int64_t length, std::optional<std::pair<Publisher, std::int64_t>> output = {}) {
    look(program);
    take_response(program, client, sequence);
    now += length;
    if (output) {
      publish(program, output->first, output->second);
    }
    look(program);
  }

  void start(const Program& program, std::uint64_t callback, bool intra_process = false) {
    add(program,
        tracepoints::CallbackStart{.callback = callback, .is_intra_process = intra_process});
  }
  void end(const Program& program, std::uint64_t callback) {
    add(program, tracepoints::CallbackEnd{.callback = callback});
  }

  /// All three layers of a publication; returns nothing, the stamp identifies the message.
  void publish(const Program& program, const Publisher& publisher, std::int64_t stamp,
               std::uint64_t message = 0xabc) {
    add(program, tracepoints::RclcppPublish{.message = message});
    add(program, tracepoints::RclPublish{.publisher_handle = publisher.handle, .message = message});
    add(program,
        tracepoints::RmwPublish{
            .rmw_publisher_handle = publisher.rmw_handle, .message = message, .timestamp = stamp});
  }

  void take(const Program& program, const Subscription& subscription, std::int64_t stamp,
            bool taken = true) {
    add(program, tracepoints::RmwTake{.rmw_subscription_handle = subscription.rmw_handle,
                                      .message = 0xdef,
                                      .source_timestamp = stamp,
                                      .taken = taken});
  }

  /// The same, where the message came through shared memory.
  void take_from_memory(const Program& program, const Subscription& subscription,
                        std::int64_t stamp) {
    add(program, tracepoints::ShareTake{.rmw_subscription_handle = subscription.rmw_handle,
                                        .source_timestamp = stamp});
    take(program, subscription, stamp);
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

  /// Lets the clock of the program's host run differently, and puts the events in the order of what
  /// the clocks show.
  void skew(const Program& program, Duration offset, double drift) {
    const auto host_of = [this](ThreadIndex thread) {
      return threads_[threads_[thread].process].host;
    };
    for (events::Event& event : batch_.events) {
      if (host_of(event.thread) == host_of(program.thread)) {
        const auto elapsed = static_cast<double>(event.time.time_since_epoch().count());
        event.time += offset + Duration(static_cast<std::int64_t>(elapsed * drift));
      }
    }
    std::ranges::stable_sort(batch_.events, {}, &events::Event::time);
  }

  bool read(events::Batch& batch) override {
    batch.clear();
    if (was_read_ || batch_.events.empty()) {
      return false;
    }
    batch = batch_;
    return was_read_ = true;
  }
  /// Moves the events added so far into a batch: the scenario goes on without them.
  void drain(events::Batch& batch) {
    batch.clear();
    std::swap(batch, batch_);
  }
  Position position() const override { return {}; }
  std::map<std::string, std::uint64_t> counts() const override { return counts_; }

  Scenario() {
    inputs_.push_back({"scenario", 0, "0"});
    threads_.look_ahead([this] {
      events::Threads::LastEvents last;
      for (const events::Event& event : batch_.events) {
        const events::Process& process = threads_[threads_[event.thread].process];
        last.note({process.host, process.id, 0}, event.time);
      }
      return last;
    });
  }
  void no_look_ahead() { threads_.look_ahead({}); }
  events::StreamLosses& lose() { return losses_; }
  void rewind() { was_read_ = false; }

 private:
  events::Batch batch_;
  bool was_read_ = false;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace takt::test
