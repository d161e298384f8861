#pragma once

#include <nanobind/nanobind.h>
#include <rcl/client.h>
#include <rcl/event.h>
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
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "takt/executor/executable.hpp"
#include "takt/executor/expiry_times.hpp"

/// Entities of rclpy as the core's executables: they know rcl's handles, whose owner is Python, and
/// a Python function that takes and runs.
namespace takt::python {

/// Runs one instance of an entity. A message's: function(number), or function(number, oldest,
/// displaced) if some were lost, see MessageEntity::Chosen. A timer's: function(due), when it was
/// due in nanoseconds of its clock. Whether there was anything to run; none: the instance is put
/// off.
class Callback {
 public:
  explicit Callback(nanobind::callable function) : function_(std::move(function)) {}
  template <typename... Arguments>
  std::optional<bool> operator()(const Arguments&... arguments) const {
    const nanobind::gil_scoped_acquire acquired;
    // It may destroy the entity, and this with it.
    const nanobind::callable function = function_;
    const nanobind::object found = function(arguments...);
    if (found.is_none()) return std::nullopt;
    return found.is(nanobind::handle(Py_True));
  }

 private:
  nanobind::callable function_;
};

/// An entity whose messages stay in the middleware until its callback takes them. Messages have
/// numbers, in the order in which they come, by which Python finds each of them even if instances
/// run in another order.
class MessageEntity : public executor::MessageExecutable {
 public:
  /// `was_heard`: it told another listener of messages that may still wait, of which the middleware
  /// does not tell again. An instance looks for them, and a further one as long as it finds some.
  MessageEntity(Callback callback, std::size_t depth, bool was_heard)
      : callback_(std::move(callback)),
        depth_(depth),
        looking_(was_heard ? std::make_shared<Looking>() : nullptr) {}

  void set_workers(std::size_t count) final { chosen_.resize(count); }
  [[nodiscard]] std::size_t room(scheduling::Queueing /*queueing*/) const final { return 0; }
  [[nodiscard]] Result<Admitted> admit(scheduling::Queueing) final;
  void choose(scheduling::Queueing queueing, std::size_t newer, std::size_t worker) final;
  [[nodiscard]] Result<void> run(std::size_t worker) final;
  /// An instance that was put off has looked for a message.
  void looked(bool found) const {
    if (looking_) looking_->go_on(found);
  }

 protected:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  /// Listening to it begins or ends. `set`: sets or unsets the function of rcl that reports what
  /// comes, which is not called any more when it has been unset.
  template <typename Handle>
  [[nodiscard]] Result<void> report(rcl_ret_t (*set)(const Handle*, rcl_event_callback_t,
                                                     const void*),
                                    Handle* handle, Arrived arrived);

 private:
  /// The message of an instance, and what Python must know to find it.
  struct Chosen {
    std::int64_t number = 0;
    /// The middleware has lost those before it, as far as they have not been taken.
    std::int64_t oldest = 0;
    /// Whether it has lost any that Python has not been told of.
    bool lost = false;
    /// Messages whose instances gave way to newer ones since the last choice, though Python may
    /// have taken them already.
    std::vector<std::int64_t> displaced{};
  };

  /// Instances look for messages that came before, until one finds none.
  class Looking {
   public:
    /// Lets an instance look, unless one has found none. An empty function: none is to look now.
    void begin(Arrived look);
    /// An instance has looked.
    void go_on(bool found);

   private:
    std::mutex mutex_;
    bool goes_on_ = true;
    Arrived look_;
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
  /// Told of what comes.
  Arrived arrived_;
  /// A callback may destroy the entity, before it is said what it found. Null: it was not heard.
  std::shared_ptr<Looking> looking_;
};

class Subscription final : public MessageEntity {
 public:
  /// `handle`: the address of an rcl_subscription_t.
  Subscription(std::uintptr_t handle, nanobind::callable run, bool was_heard);
  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::subscription;
  }
  [[nodiscard]] Result<void> notify(Arrived arrived) override;
  [[nodiscard]] const void* source() const override { return handle_; }

 private:
  rcl_subscription_t* handle_;
};

class Service final : public MessageEntity {
 public:
  Service(std::uintptr_t handle, nanobind::callable run, bool was_heard);
  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::service;
  }
  [[nodiscard]] Result<void> notify(Arrived arrived) override;
  [[nodiscard]] const void* source() const override { return handle_; }

 private:
  rcl_service_t* handle_;
};

class Client final : public MessageEntity {
 public:
  Client(std::uintptr_t handle, nanobind::callable run, bool was_heard);
  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::client;
  }
  [[nodiscard]] Result<void> notify(Arrived arrived) override;
  [[nodiscard]] const void* source() const override { return handle_; }

 private:
  rcl_client_t* handle_;
};

/// What Python triggers: tasks, guard conditions, waitables.
class Trigger final : public MessageEntity {
 public:
  /// `merges`: triggers while an instance waits make no further one.
  Trigger(nanobind::callable run, bool merges)
      : MessageEntity(Callback(std::move(run)), merges ? 1 : unlimited, false) {}
  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::waitable;
  }
  [[nodiscard]] Result<void> notify(Arrived arrived) override;

  /// One more instance is due. From any thread.
  void trigger();

 private:
  std::mutex mutex_;
  /// Guarded by it.
  Arrived told_;
  /// Triggered while nobody was notified.
  std::size_t unseen_ = 0;
};

/// Hears of an event of a publisher or subscription (a missed deadline, incompatible qualities of
/// service) from the middleware itself. In a wait set, rmw_fastrtps makes an event ready whenever
/// its subscription has a message that nobody took (rmw_wait.cpp: both have one status condition),
/// and waiting for it returns at once, again and again.
class Event {
 public:
  /// `handle`: the address of an rcl_event_t; `told` is called on the middleware's threads. Both
  /// outlive this object. Throws if the middleware reports no events.
  Event(std::uintptr_t handle, Trigger& told);
  /// Triggers a guard condition of rcl at that address.
  Event(std::uintptr_t handle, std::uintptr_t told);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  /// Whether it has occurred since the last call.
  [[nodiscard]] bool take() { return occurred_.exchange(false); }

 private:
  void begin();

  rcl_event_t* handle_;
  std::function<void()> tell_;
  std::atomic<bool> occurred_ = false;
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
