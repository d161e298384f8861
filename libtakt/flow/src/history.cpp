#include "takt/flow/history.hpp"

#include <algorithm>
#include <iterator>

namespace takt::flow {

template <typename Id, typename Key>
History::Lists<Id> History::lists(std::uint64_t first, std::uint64_t end, Key key) const {
  Lists<Id> made;
  const auto each = [&](auto&& use) {
    for (std::uint64_t number = first; number < end; ++number) {
      const auto* const row = store_.find(static_cast<Id>(number));
      if (const auto list = row == nullptr ? std::nullopt : key(*row)) {
        use(*list, static_cast<Id>(number));
      }
    }
  };
  each([&](std::size_t list, Id) {
    if (list + 2 > made.begins.size()) {
      made.begins.resize(list + 2);
    }
    ++made.begins[list + 1];
  });
  for (std::size_t i = 1; i < made.begins.size(); ++i) {
    made.begins[i] += made.begins[i - 1];
  }
  made.values.resize(made.begins.empty() ? 0 : made.begins.back());
  std::vector<std::uint32_t> next = made.begins;
  each([&](std::size_t list, Id id) { made.values[next[list]++] = id; });
  return made;
}

History::History(const Store& store) : store_(store) {
  using Key = std::optional<std::size_t>;
  const auto runs = [&](auto key) {
    return lists<InstanceId>(store.first_run(), store.end_run(), key);
  };
  const auto messages = [&](auto key) {
    return lists<PublicationId>(store.first_message(), store.end_message(), key);
  };
  by_callback_ = runs([](const Run& run) -> Key { return run.callback.value(); });
  by_thread_ = runs(
      [](const Run& run) -> Key { return run.start < run.end ? Key(run.thread.value()) : Key(); });
  keep_outermost(by_thread_);
  by_source_ = runs([&](const Run& run) -> Key {
    const auto number = static_cast<std::uint64_t>(run.source);
    return store.find(run.source) == nullptr ? Key() : Key(number - store.first_message());
  });
  by_publisher_ = messages([](const Message& message) -> Key {
    return message.publisher ? Key(message.publisher->value()) : Key();
  });
  by_run_ = messages([&](const Message& message) -> Key {
    const auto number = static_cast<std::uint64_t>(message.run);
    return store.find(message.run) == nullptr ? Key() : Key(number - store.first_run());
  });
}

void History::keep_outermost(Lists<InstanceId>& lists) const {
  std::uint32_t kept = 0;
  for (std::size_t list = 0; list + 1 < lists.begins.size(); ++list) {
    const auto all = lists[list];
    lists.begins[list] = kept;
    Instant until = Instant::min();
    for (const InstanceId id : all) {
      const Run& run = *store_.find(id);
      if (run.start < until) continue;
      until = run.end;
      lists.values[kept++] = id;
    }
  }
  if (!lists.begins.empty()) lists.begins.back() = kept;
  lists.values.resize(kept);
}

std::span<const InstanceId> History::runs_of(execution::ObservedCallbackIndex callback) const {
  return by_callback_[callback.value()];
}

std::span<const PublicationId> History::messages_of(execution::PublisherIndex publisher) const {
  return by_publisher_[publisher.value()];
}

std::span<const PublicationId> History::sent_by(InstanceId run) const {
  return by_run_[static_cast<std::uint64_t>(run) - store_.first_run()];
}

std::span<const InstanceId> History::receivers_of(PublicationId message) const {
  return by_source_[static_cast<std::uint64_t>(message) - store_.first_message()];
}

std::optional<InstanceId> History::first_after(execution::ObservedCallbackIndex callback,
                                               InstanceId other) const {
  const auto runs = runs_of(callback);
  const auto found = std::ranges::upper_bound(runs, other);
  return found == runs.end() ? std::nullopt : std::optional(*found);
}

InstanceId History::last_before(execution::ObservedCallbackIndex callback, InstanceId other) const {
  const auto runs = runs_of(callback);
  const auto found = std::ranges::lower_bound(runs, other);
  return found == runs.begin() ? InstanceId::none : *std::prev(found);
}

std::optional<InstanceId> History::last_ended(execution::ObservedCallbackIndex callback,
                                              Instant by) const {
  const auto runs = runs_of(callback);
  auto after = std::ranges::partition_point(
      runs, [&](InstanceId id) { return store_.find(id)->start <= by; });
  while (after != runs.begin()) {
    --after;
    if (store_.find(*after)->end <= by) {
      return *after;
    }
  }
  return std::nullopt;
}

std::span<const InstanceId> History::overlapping(execution::ThreadIndex thread, Instant begin,
                                                 Instant end) const {
  const auto runs = by_thread_[thread.value()];
  const auto from = std::ranges::partition_point(
      runs, [&](InstanceId id) { return store_.find(id)->end <= begin; });
  const auto to = std::partition_point(from, runs.end(),
                                       [&](InstanceId id) { return store_.find(id)->start < end; });
  return {from, to};
}

}  // namespace takt::flow
