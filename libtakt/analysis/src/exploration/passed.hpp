#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "effort.hpp"
#include "exploration/state.hpp"

namespace takt::analysis {

/// The states that have been reached, and those of them whose successors are still to be found.
/// States that may come earliest are taken first, so that states meet, and can be merged, before
/// their successors are looked for.
class Passed {
 public:
  /// Thrown where states would take more memory than is sensible.
  struct TooMany {};

  /// `merging`: states that differ only in their zones become one. It contains all of them, and
  /// perhaps some that cannot be reached.
  Passed(bool merging, Effort& effort) : merging_(merging), effort_(effort) {}

  /// Adds a state that is reached in that hyperperiod.
  void add(Normal state, std::int64_t hyperperiod);

  struct Next {
    const Key* key = nullptr;
    Zone zone{};
    std::int64_t hyperperiod = 0;
  };
  /// Takes the next state to go on with; returns false if there is none.
  [[nodiscard]] bool take(Next& next);

  [[nodiscard]] std::size_t size() const { return kept_; }

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Kept {
    Zone zone;
    bool waits = false;
    /// Whether another zone includes it.
    bool covered = false;
  };
  using Zones = std::vector<Kept>;
  struct Waiting {
    std::int64_t hyperperiod = 0;
    Time earliest = 0;
    std::size_t order = 0;
    const Key* key = nullptr;
    Zones* zones = nullptr;
    std::size_t index = 0;
    auto operator<=>(const Waiting& other) const {
      return std::tie(hyperperiod, earliest, order) <=>
             std::tie(other.hyperperiod, other.earliest, other.order);
    }
  };

  void keep(Zones& zones, const Key& key, Zone zone, std::int64_t hyperperiod);
  void wait(Zones& zones, std::size_t index, const Key& key, std::int64_t hyperperiod);

  bool merging_;
  Effort& effort_;
  std::unordered_map<Key, Zones, Hash> zones_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::size_t order_ = 0;
  std::size_t kept_ = 0;
  std::size_t memory_ = 0;
};

}  // namespace takt::analysis
