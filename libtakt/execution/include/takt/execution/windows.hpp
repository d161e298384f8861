#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "takt/base/window_place.hpp"
#include "takt/execution/instances.hpp"

namespace takt::execution {

/// Compares the order in which a thread ran callbacks between two of its executor's waits, which is
/// a ready set, with the places that they are said to have there.
class WindowCheck {
 public:
  /// The next instance that ended on the thread. No place: any would do.
  void add(const CallbackInstance& instance, std::optional<WindowPlace> place);

  /// Ready sets in which several callbacks ran, and those of them in another order.
  struct Counts {
    std::uint64_t windows = 0;
    std::uint64_t contradicting = 0;
  };
  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  void begin(bool is_known);

  Counts counts_;
  /// Whether its beginning is known: the executor tells of waits, and no callback spun meanwhile.
  bool is_known_ = false;
  bool contradicts_ = false;
  std::uint64_t instances_ = 0;
  Instant end_{};
  WindowPlace last_{};
  /// Blocks that others have followed.
  std::vector<std::uint32_t> left_;
};

}  // namespace takt::execution
