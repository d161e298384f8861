#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/execution/objects.hpp"

namespace takt::flow {

/// The callbacks and publishers that a name stands for at one end of a flow.
struct Selection {
  /// By their indices.
  std::vector<bool> callbacks;
  std::vector<bool> publishers;

  [[nodiscard]] bool has(execution::ObservedCallbackIndex callback) const {
    return callback.value() < callbacks.size() && callbacks[callback.value()];
  }
  [[nodiscard]] bool has(execution::PublisherIndex publisher) const {
    return publisher.value() < publishers.size() && publishers[publisher.value()];
  }
};

/// A flow from a name begins with a message: of the topic, or sent by the node (node:topic: on that
/// topic). It begins with a run where the name is a callback's, and where no publisher of the topic
/// is in the trace.
/// Error, which names the option `option`: nothing has this name. It proposes similar names.
[[nodiscard]] Result<Selection> select_source(const execution::Objects& objects,
                                              std::string_view option, std::string_view name);

/// A flow to a name ends where a run begins that handles a message: of the topic, or received by
/// the node (node:topic: on that topic), or of the callback. It ends with a message of the topic
/// where nobody in the trace receives that.
[[nodiscard]] Result<Selection> select_sink(const execution::Objects& objects,
                                            std::string_view option, std::string_view name);

}  // namespace takt::flow
