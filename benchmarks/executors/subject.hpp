#pragma once

#include <functional>
#include <string>
#include <utility>

namespace takt::benchmark {

/// An executor under test, with a publisher and a subscription to its topic.
class Subject {
 public:
  enum class Role {
    other,
    /// The ratios of its figures to those of all others are printed.
    compared,
    /// The same, and its figures are also subtracted from those of all others.
    floor,
  };

  explicit Subject(std::string name, Role role = Role::other)
      : name_(std::move(name)), role_(role) {}
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Role role() const { return role_; }

  /// Messages that may wait for the subscription.
  static constexpr int depth = 500;

  /// A new executor takes the place of the one that has spun: some cannot spin again, or never
  /// sleep again, once they have been cancelled.
  virtual void renew() = 0;
  virtual void publish() = 0;
  /// Runs callbacks until cancel().
  virtual void spin() = 0;
  virtual void cancel() = 0;

  /// The function that the subscription calls for each message.
  std::function<void()> received;

 private:
  std::string name_;
  Role role_;
};

}  // namespace takt::benchmark
