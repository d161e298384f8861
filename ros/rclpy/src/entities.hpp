#pragma once

#include <nanobind/nanobind.h>
#include <rcl/client.h>
#include <rcl/service.h>
#include <rcl/subscription.h>
#include <rcl/time.h>
#include <rcl/timer.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <vector>

#include "takt/executor/executable.hpp"
#include "takt/executor/expiry_times.hpp"

/// Entities of rclpy as the core's executables: they know rcl's handles, whose owner is Python, and
/// a Python function that takes and runs.
namespace takt::python {

/// Runs one instance of an entity. A message's: function(number, oldest, displaced), see
/// MessageEntity::Chosen. A timer's: function(due), when it was due in nanoseconds of its clock.
class Callback {
 public:
  explicit Callback(nanobind::callable function) : function_(std::move(function)) {}
  template <typename... Arguments>
  void operator()(const Arguments&... arguments) const {
    const nanobind::gil_scoped_acquire acquired;
    function_(arguments...);
  }

 private:
  nanobind::callable function_;
};

/// An entity whose messages stay in the middleware until its callback takes them. Messages have
/// numbers, in the order in which they come, by which Python finds each of them even if instances
/// run in another order.
class MessageEntity : public executor::MessageExecutable {
 public:
  explicit MessageEntity(Callback callback, std::size_t depth)
      : callback_(std::move(callback)), depth_(depth) {}

  void set_workers(std::size_t count) final { chosen_.resize(count); }
  [[nodiscard]] std::size_t room(scheduling::Queueing /*queueing*/) const final { return 0; }
  [[nodiscard]] Result<Admitted> admit(scheduling::Queueing) final;
  void choose(scheduling::Queueing queueing, std::size_t worker) final;
  [[nodiscard]] Result<void> run(std::size_t worker) final;

 protected:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

 private:
  /// The message of an instance, and what Python must know to find it.
  struct Chosen {
    std::int64_t number = 0;
    /// The middleware has lost those before it, as far as they have not been taken.
    std::int64_t oldest = 0;
    /// Messages whose instances gave way to newer ones since the last choice, though Python may
    /// have taken them already.
    std::vector<std::int64_t> displaced{};
  };

  Callback callback_;
  /// The middleware keeps no more messages, and loses the oldest.
  std::size_t depth_;
  /// The number of the next message.
  std::int64_t next_ = 0;
  /// The number after the largest chosen one. Python takes no message from there on.
  std::int64_t reached_ = 0;
  /// Admitted and not chosen.
  std::deque<std::int64_t> waiting_;
  std::vector<std::int64_t> displaced_;
  /// By worker.
  std::vector<Chosen> chosen_ = std::vector<Chosen>(1);
};

class Subscription final : public MessageEntity {
 public:
  /// `handle`: the address of an rcl_subscription_t.
  Subscription(std::uintptr_t handle, nanobind::callable run);
  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::subscription;
  }
  [[nodiscard]] Result<void> notify(Arrived arrived) override;
  [[nodiscard]] const void* source() const override { return handle_; }

 private:
  rcl_subscription_t* handle_;
  Arrived arrived_;
};

class Service final : public MessageEntity {
 public:
  Service(std::uintptr_t handle, nanobind::callable run);
  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::service;
  }
  [[nodiscard]] Result<void> notify(Arrived arrived) override;
  [[nodiscard]] const void* source() const override { return handle_; }

 private:
  rcl_service_t* handle_;
  Arrived arrived_;
};

class Client final : public MessageEntity {
 public:
  Client(std::uintptr_t handle, nanobind::callable run);
  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::client;
  }
  [[nodiscard]] Result<void> notify(Arrived arrived) override;
  [[nodiscard]] const void* source() const override { return handle_; }

 private:
  rcl_client_t* handle_;
  Arrived arrived_;
};

/// What Python triggers: tasks, guard conditions, waitables.
class Trigger final : public MessageEntity {
 public:
  explicit Trigger(nanobind::callable run) : MessageEntity(Callback(std::move(run)), unlimited) {}
  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::waitable;
  }
  [[nodiscard]] Result<void> notify(Arrived arrived) override;

  /// One more instance is due. From any thread.
  void trigger();

 private:
  std::mutex mutex_;
  Arrived arrived_;
  /// Triggered while nobody was notified.
  std::size_t unseen_ = 0;
};

/// A timer on any clock. While a simulated clock stands, the timer does.
class Timer final : public executor::TimerExecutable {
 public:
  Timer(std::uintptr_t handle, nanobind::callable run);
  [[nodiscard]] Result<std::optional<Duration>> time_until_expiry() const override;
  [[nodiscard]] Result<std::optional<Expiry>> expire() override;
  [[nodiscard]] Result<void> on_change(std::function<void()> changed) override;
  [[nodiscard]] Result<void> run(std::size_t worker) override;
  [[nodiscard]] const void* source() const override { return handle_; }

 private:
  [[nodiscard]] Result<void> watch_clock(bool watch);
  void tell_of_change();

  rcl_timer_t* handle_;
  rcl_clock_t* clock_ = nullptr;
  Callback callback_;
  executor::ExpiryTimes expiries_;
  /// The expiry of a timer that runs as often as it can has not run yet.
  std::atomic<bool> waits_ = false;
  /// Guards what follows.
  std::mutex mutex_;
  std::function<void()> changed_;
};

}  // namespace takt::python
