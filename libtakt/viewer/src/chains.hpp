#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parts.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/model/model.hpp"
#include "takt/viewer/table.hpp"
#include "takt/viewer/work.hpp"
#include "timeline.hpp"

namespace takt::viewer {

/// What is known of a chain's instances besides its measured latencies.
struct ChainView {
  struct Ending {
    std::int64_t step = 0;
    std::string reason;
    std::uint64_t count = 0;
  };
  /// Callbacks of the trace, in the order of the path.
  std::vector<std::int64_t> callbacks;
  std::vector<Ending> endings;
  std::uint64_t incomplete = 0;
  /// Complete instances that are not in the tables because some of their runs were left out.
  std::uint64_t left_out = 0;
  /// Row of the worst complete instance, -1 if there is none, with its parts.
  std::int64_t worst = -1;
  Duration worst_latency{};
  std::vector<Part> worst_parts;
};

/// The tables of instances and parts.
struct Chains {
  explicit Chains(const Storage& storage);

  Table instances;
  Table parts;
  std::vector<ChainView> views;  // by the model's chains
};

/// The instances of the model's chains that the recording keeps: those that were measured, and
/// those that ended early.
[[nodiscard]] Chains make_chains(const model::Model& model, const Recording& recording,
                                 const Timeline& timeline, const flow::Measurer& measurer,
                                 Instant begin, Instant end, Instant steady_since,
                                 const Storage& storage, Work& work);

}  // namespace takt::viewer
