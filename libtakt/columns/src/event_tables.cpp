#include "takt/columns/event_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "takt/events/schema.hpp"
#include "takt/events/utf8.hpp"

namespace takt::columns {
namespace {

using events::Batch;
using events::Event;
using events::EventType;
using events::FieldKind;
using events::ThreadIndex;
using events::Threads;

/// A table with more bytes than this in one of its fields is handed out, however few rows it has.
constexpr std::size_t most_bytes = std::size_t{16} << 20;

template <typename Things>
Column names(const Things& things) {
  std::vector<std::int64_t> ends{0};
  std::string bytes;
  for (const auto& thing : things) {
    events::append_utf8(thing.name, bytes);
    ends.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  return texts("", std::move(ends), std::move(bytes));
}

}  // namespace

class EventTables::Rows {
 public:
  explicit Rows(EventType type);

  void add(const Event& event, const Batch& batch);
  [[nodiscard]] std::size_t size() const { return times_.size(); }
  [[nodiscard]] bool is_large() const;
  Column take(const Threads& threads);

 private:
  /// One field of the rows, of whichever kind.
  struct FieldRows {
    events::Field field;
    std::vector<std::int64_t> numbers;
    std::vector<std::uint64_t> handles;  // of lists: all their elements
    std::string bytes;                   // of texts
    std::vector<std::int64_t> ends;      // of texts and lists

    void add(const Event& event, const Batch& batch);
    Column take();
  };

  const events::Schema& schema_;
  std::vector<std::int64_t> times_;
  std::vector<ThreadIndex> threads_;
  std::vector<std::uint16_t> processors_;
  std::vector<FieldRows> fields_;
};

void EventTables::Rows::FieldRows::add(const Event& event, const Batch& batch) {
  switch (field.kind) {
    case FieldKind::number:
      numbers.push_back(static_cast<std::int64_t>(event.values[field.position]));
      return;
    case FieldKind::handle:
      handles.push_back(event.values[field.position]);
      return;
    case FieldKind::gid:
      fmt::format_to(std::back_inserter(bytes), "{:016x}{:016x}", event.values[field.position],
                     event.values[field.position + 1]);
      break;
    case FieldKind::text:
      events::append_utf8(batch.payload(event).texts[field.position], bytes);
      break;
    case FieldKind::list: {
      const auto& list = batch.payload(event).lists[field.position];
      handles.insert(handles.end(), list.begin(), list.end());
      ends.push_back(static_cast<std::int64_t>(handles.size()));
      return;
    }
  }
  ends.push_back(static_cast<std::int64_t>(bytes.size()));
}

Column EventTables::Rows::FieldRows::take() {
  std::string name(field.name);
  if (field.kind == FieldKind::number) {
    return columns::numbers(std::move(name), std::exchange(numbers, {}));
  }
  if (field.kind == FieldKind::handle) {
    return columns::numbers(std::move(name), std::exchange(handles, {}));
  }
  auto taken = std::exchange(ends, {});
  taken.insert(taken.begin(), 0);
  return field.kind == FieldKind::list
             ? lists(std::move(name), std::move(taken), std::exchange(handles, {}))
             : texts(std::move(name), std::move(taken), std::exchange(bytes, {}));
}

EventTables::Rows::Rows(EventType type) : schema_(events::schema(type)) {
  for (const events::Field& field : schema_.fields) {
    fields_.push_back({field, {}, {}, {}, {}});
  }
}

void EventTables::Rows::add(const Event& event, const Batch& batch) {
  times_.push_back(event.time.time_since_epoch().count());
  threads_.push_back(event.thread);
  processors_.push_back(event.cpu);
  for (FieldRows& field : fields_) {
    field.add(event, batch);
  }
}

bool EventTables::Rows::is_large() const {
  return std::ranges::any_of(fields_, [](const FieldRows& field) {
    return field.bytes.size() + sizeof(std::uint64_t) * field.handles.size() > most_bytes;
  });
}

Column EventTables::Rows::take(const Threads& threads) {
  const std::size_t count = size();
  std::vector<std::int32_t> hosts(count);
  std::vector<std::int32_t> thread_names(count);
  std::vector<std::int64_t> processes(count);
  std::vector<std::int64_t> thread_ids(count);
  for (std::size_t i = 0; i < count; ++i) {
    const events::Thread& thread = threads[threads_[i]];
    const events::Process& process = threads[thread.process];
    hosts[i] = static_cast<std::int32_t>(process.host.value());
    thread_names[i] = static_cast<std::int32_t>(threads_[i].value());
    processes[i] = process.id;
    thread_ids[i] = thread.id;
  }
  threads_.clear();
  std::vector<Column> parts;
  parts.push_back(numbers("time", std::exchange(times_, {})));
  parts.push_back(choices("host", std::move(hosts), names(threads.hosts())));
  if (schema_.phase != events::Phase::scheduling) {
    parts.push_back(numbers("vpid", std::move(processes)));
    parts.push_back(numbers("vtid", std::move(thread_ids)));
    parts.push_back(choices("procname", std::move(thread_names), names(threads.threads())));
  }
  parts.push_back(numbers("cpu_id", std::exchange(processors_, {})));
  for (FieldRows& field : fields_) {
    parts.push_back(field.take());
  }
  return table(schema_.name, static_cast<std::int64_t>(count), std::move(parts));
}

EventTables::EventTables(const Threads& threads, std::span<const EventType> types, std::size_t rows)
    : threads_(threads), rows_(rows) {
  for (const events::Schema& schema : events::schemas()) {
    if (types.empty() || std::ranges::find(types, schema.type) != types.end()) {
      tables_[static_cast<std::size_t>(schema.type)] = std::make_unique<Rows>(schema.type);
    }
  }
}

EventTables::~EventTables() = default;

void EventTables::add(const Batch& batch) {
  for (const Event& event : batch.events) {
    if (Rows* const rows = tables_[static_cast<std::size_t>(event.type)].get()) {
      rows->add(event, batch);
    }
  }
}

std::optional<EventTables::Table> EventTables::take(std::size_t least_rows) {
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (tables_[i] && (tables_[i]->size() >= least_rows || tables_[i]->is_large())) {
      return Table{static_cast<EventType>(i), tables_[i]->take(threads_)};
    }
  }
  return std::nullopt;
}

Column EventTables::empty(EventType type) const { return Rows(type).take(threads_); }

}  // namespace takt::columns
