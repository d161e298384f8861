#pragma once

#include <memory>

#include "takt/base/selection.hpp"
#include "takt/ctf/trace.hpp"

namespace takt::capture {

/// Says in a recording what its user wanted left out of it, as a trace of its own.
class SelectionTrace {
 public:
  explicit SelectionTrace(Selection selection) : selection_(std::move(selection)) {}

  /// Writes it, unless everything is selected or it has been written. Error: it cannot be written.
  [[nodiscard]] Result<void> write(ctf::Storage& storage);

 private:
  Selection selection_;
  std::unique_ptr<ctf::Trace> trace_;
  std::unique_ptr<ctf::Stream> stream_;
};

}  // namespace takt::capture
