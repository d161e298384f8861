#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// What a model says of the joins and edges that no message shows and nobody declares. Hardly any
/// has such fields, so they are kept among the object's other fields.
namespace takt::model {

/// Of a join that was inferred from which runs of its inputs' receivers published. No bound gets
/// smaller by it: see separate_inferred_joins().
struct JoinInference {
  /// In percent, at least 1.
  std::int64_t confidence = 100;
  /// The ids of the inputs whose messages were seen to complete a set. Empty: any may.
  std::vector<std::string> completed_by{};
  /// The longest run by a message of the others, which were only kept.
  Duration keeping_time{};
};

/// None: the join is declared.
[[nodiscard]] std::optional<JoinInference> inference(const Join& join);
void set_inference(Join& join, const std::optional<JoinInference>& inference);

/// How sure it is, in percent, that a timer reads what the edge's sender keeps; an inferred edge.
/// None: the edge is declared or was observed.
[[nodiscard]] std::optional<std::int64_t> confidence(const Edge& edge);
void set_confidence(Edge& edge, std::optional<std::int64_t> percent);

}  // namespace takt::model
