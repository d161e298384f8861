#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace takt::viewer {

/// How much is done and how much there is in all. May throw, which ends the work.
using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

/// Tells how far long work has come, not too often. What is not known yet of how much there is may
/// be added on the way.
class Work {
 public:
  explicit Work(Progress progress = {}) : progress_(std::move(progress)) {}

  void expect(std::uint64_t steps) { expected_ += steps; }
  void step() {
    if (++done_ % interval == 0 && progress_) {
      progress_(done_, expected_);
    }
  }

 private:
  static constexpr std::uint64_t interval = std::uint64_t{1} << 16;

  Progress progress_;
  std::uint64_t done_ = 0;
  std::uint64_t expected_ = 0;
};

}  // namespace takt::viewer
