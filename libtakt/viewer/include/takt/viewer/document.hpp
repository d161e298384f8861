#pragma once

#include <map>
#include <string>
#include <vector>

#include "takt/events/event_stream.hpp"
#include "takt/execution/database.hpp"
#include "takt/execution/pass.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/model/model.hpp"
#include "takt/viewer/recording.hpp"
#include "takt/viewer/scheduling.hpp"
#include "takt/viewer/storage.hpp"
#include "takt/viewer/work.hpp"

namespace takt::viewer {

/// A `takt/viewer` version 1 document (docs/viewer-data.md).
struct Document {
  /// JSON. Goals, bounds and verdicts are not in it; the caller adds them.
  std::string index;
  /// The tables by name, each as one block of bytes; empty if the storage is on disk.
  std::map<std::string, std::string> tables;
};

/// A trace that was read to its end.
struct Recorded {
  const model::Model& model;
  const events::EventStream& source;
  const execution::Database& database;
  execution::Pass pass;
  const Recording& recording;
  const Scheduling& scheduling;
  /// It has reported the model's chains to the recording, and finish() was called.
  const flow::Measurer& measurer;
};

/// Error: the disk is full, or a file of the storage's folder could not be written.
[[nodiscard]] Result<Document> make_document(const Recorded& recorded, const Storage& storage,
                                             Work& work);

}  // namespace takt::viewer
