#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace takt::viewer {

/// Is told how much is done, and how much there is to do in all. May throw, which ends the work.
using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

/// Reports the progress of long work, but not too often. More work may be expected on the way, when
/// it becomes known.
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
