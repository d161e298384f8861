#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/model/model.hpp"

namespace takt::flow {

/// An instance of a callback of the model.
struct InstanceRecord {
  execution::InstanceId id = execution::InstanceId::none;
  model::CallbackIndex callback;
  /// Of a timer: relative to its grid's phase.
  Instant activation;
  Instant end;
  /// The instance that sent the message that activated this one.
  execution::InstanceId cause = execution::InstanceId::none;
  /// Chains that begin with this instance and were seen complete, by their number at the callback.
  std::uint64_t completed = 0;
};

/// The most recent instances by id, a fixed number of them.
class InstanceWindow {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 17;

  InstanceRecord* find(execution::InstanceId id) {
    InstanceRecord& record = records_[position(id)];
    return record.id == id && id != execution::InstanceId::none ? &record : nullptr;
  }
  /// Keeps a record in place of the one `capacity` ids before.
  void put(const InstanceRecord& record) { records_[position(record.id)] = record; }

 private:
  static std::size_t position(execution::InstanceId id) {
    return static_cast<std::size_t>(id) & (capacity - 1);
  }
  std::vector<InstanceRecord> records_ = std::vector<InstanceRecord>(capacity);
};

}  // namespace takt::flow
