#pragma once

#include <cstdint>
#include <string_view>

namespace takt::execution {

/// What a thread is, as far as its events show (ros-llama S-4.4.3).
enum class ThreadClass : std::uint8_t {
  unknown,
  /// Spins an executor without end.
  executor,
  /// Does the same again and again and sleeps in between, as with `rclcpp::Rate`.
  periodic,
  /// Publishes and is neither: a driver, which waits for its device.
  data_driven,
  /// Its timing is unknown: it spins for limited times, or sleeps in callbacks.
  unclassifiable,
};

/// "executor" …, as documents name it.
[[nodiscard]] std::string_view to_string(ThreadClass thread_class);

/// What changes a thread's class.
enum class ThreadEvent : std::uint8_t {
  /// It begins to spin an executor without end.
  spin,
  /// It spins one until something has happened.
  limited_spin,
  /// A rate puts it to sleep, or is no longer used.
  rate_sleep,
  rate_stop,
  publish,
};

/// The class of one thread from event to event (ros-llama S-4.4.3, Fig. 5.11). A thread leaves
/// `unclassifiable` only by an endless spin. One that uses rates now and then would be periodic and
/// data-driven by turns; from the second time on it stays periodic.
class ThreadHistory {
 public:
  /// Returns whether the class changed.
  bool on(ThreadEvent event);

  [[nodiscard]] ThreadClass now() const { return class_; }
  /// How often the class changed.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  /// What made it unclassifiable, in words; empty otherwise.
  [[nodiscard]] std::string_view reason() const;

 private:
  [[nodiscard]] ThreadClass after(ThreadEvent event) const;

  ThreadClass class_ = ThreadClass::unknown;
  bool has_stopped_ = false;
  ThreadEvent last_ = ThreadEvent::spin;
  std::uint64_t changes_ = 0;
};

}  // namespace takt::execution
