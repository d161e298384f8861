#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "takt/flow/store.hpp"

namespace takt::flow {

/// The rows of a store, ordered as flows look them up. Made once, in O(rows); the store must not
/// change afterwards.
class History {
 public:
  explicit History(const Store& store);

  [[nodiscard]] const Store& store() const { return store_; }
  /// In order of their starts.
  [[nodiscard]] std::span<const InstanceId> runs_of(
      execution::ObservedCallbackIndex callback) const;
  /// In the order in which they were sent.
  [[nodiscard]] std::span<const PublicationId> messages_of(
      execution::PublisherIndex publisher) const;
  [[nodiscard]] std::span<const PublicationId> sent_by(InstanceId run) const;
  /// The runs that handled a message.
  [[nodiscard]] std::span<const InstanceId> receivers_of(PublicationId message) const;

  /// The callback's first run that began after another run, of any callback. O(log runs).
  [[nodiscard]] std::optional<InstanceId> first_after(execution::ObservedCallbackIndex callback,
                                                      InstanceId other) const;
  /// The callback's last run that began before another run; none if there is none. O(log runs).
  [[nodiscard]] InstanceId last_before(execution::ObservedCallbackIndex callback,
                                       InstanceId other) const;
  /// The last run of a callback that had ended by then. O(log runs).
  [[nodiscard]] std::optional<InstanceId> last_ended(execution::ObservedCallbackIndex callback,
                                                     Instant by) const;
  /// The runs of a thread that overlap [begin, end), in order of their starts, without those within
  /// another one (of callbacks that spin) and those that took no time. O(log runs + result).
  [[nodiscard]] std::span<const InstanceId> overlapping(execution::ThreadIndex thread,
                                                        Instant begin, Instant end) const;

 private:
  /// Lists of numbers, one after another: list i is values[begins[i] … begins[i + 1]].
  template <typename Value>
  struct Lists {
    std::vector<std::uint32_t> begins;
    std::vector<Value> values;

    [[nodiscard]] std::span<const Value> operator[](std::size_t i) const {
      if (i + 1 >= begins.size()) {
        return {};
      }
      return std::span(values).subspan(begins[i], begins[i + 1] - begins[i]);
    }
  };
  /// Puts the numbers of a store's rows into lists; key(row) is the list of a row, or none.
  template <typename Id, typename Key>
  Lists<Id> lists(std::uint64_t first, std::uint64_t end, Key key) const;

  /// Drops the runs of each list that are within another one of it.
  void keep_outermost(Lists<InstanceId>& lists) const;

  const Store& store_;
  Lists<InstanceId> by_callback_;
  Lists<InstanceId> by_thread_;  // no two of a list overlap
  Lists<InstanceId> by_source_;
  Lists<PublicationId> by_publisher_;
  Lists<PublicationId> by_run_;
};

}  // namespace takt::flow
