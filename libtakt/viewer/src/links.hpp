#pragma once

#include <map>
#include <utility>

#include "takt/model/model.hpp"
#include "takt/viewer/recording.hpp"
#include "takt/viewer/table.hpp"
#include "timeline.hpp"

namespace takt::viewer {

/// How the data of a run got to a later run of its node without a message; positions in the
/// viewer's list of links.
enum class LinkKind : std::int64_t { stored, completed };

struct Links {
  explicit Links(const Storage& storage)
      : table(storage, "links", {{"from", Coding::delta}, {"to", Coding::delta}, {"kind"}}) {}

  /// Sorted by `from`, then `to`.
  Table table;
  /// How often the data of one callback were used by another.
  std::map<std::pair<execution::ObservedCallbackIndex, execution::ObservedCallbackIndex>,
           std::uint64_t>
      counts;
};

/// The causal links that the programs declared (message-flow 3.5.3 and 3.5.4), and for other nodes
/// those of the model: its joins, whose inputs are used up together, and what its timers sample.
[[nodiscard]] Links make_links(const execution::Objects& objects, const model::Model& model,
                               const Recording& recording, const Timeline& timeline,
                               const Storage& storage);

}  // namespace takt::viewer
