#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "takt/events/event.hpp"
#include "takt/tracepoints/events.hpp"

/// Converts between event records, whose fields are numbered, and the structures of
/// tracepoints/events.hpp, whose fields have names. Everything here is resolved when it is
/// compiled: a handler that reads `fields.publisher_handle` loads one element of Event::values.
namespace takt::events {

using tracepoints::Gid;
using tracepoints::Handle;

/// Takes the fields out of a record, one after the other.
class RecordReader {
 public:
  RecordReader(const Event& event, const Payload& payload) : event_(event), payload_(payload) {}

  template <std::integral Number>
  void operator()(Number& field) {
    field = static_cast<Number>(event_.values[size_.values++]);
  }
  void operator()(bool& field) { field = event_.values[size_.values++] != 0; }
  void operator()(Gid& field) {
    field = {event_.values[size_.values], event_.values[size_.values + 1]};
    size_.values += 2;
  }
  void operator()(std::string_view& field) { field = payload_.texts[size_.texts++]; }
  void operator()(std::span<const Handle>& field) { field = payload_.lists[size_.lists++]; }

 private:
  const Event& event_;
  const Payload& payload_;
  RecordSize size_;
};

/// Puts fields into an empty record, one after the other.
class RecordWriter {
 public:
  RecordWriter(Event& event, Payload& payload) : event_(event), payload_(payload) {}

  template <std::integral Number>
  void operator()(const Number& field) {
    event_.values[size_.values++] = static_cast<std::uint64_t>(field);
  }
  void operator()(const Gid& field) {
    event_.values[size_.values++] = field[0];
    event_.values[size_.values++] = field[1];
  }
  void operator()(const std::string_view& field) { payload_.texts[size_.texts++] = field; }
  void operator()(const std::span<const Handle>& field) {
    payload_.lists[size_.lists++].assign(field.begin(), field.end());
  }

  [[nodiscard]] bool has_payload() const { return size_.texts + size_.lists != 0; }

 private:
  Event& event_;
  Payload& payload_;
  RecordSize size_;
};

/// The fields of an event of type Fields::type. Texts and lists are valid as long as the batch is.
template <typename Fields>
[[nodiscard]] Fields fields_of(const Event& event, const Batch& batch) {
  Fields fields;
  Fields::for_each_field(fields, RecordReader(event, batch.payload(event)));
  return fields;
}

/// Appends an event with these fields to a batch; the caller adds time, thread and processor.
template <typename Fields>
Event& append(Batch& batch, const Fields& fields) {
  Event& event = batch.events.emplace_back();
  event.type = Fields::type;
  Payload payload;
  RecordWriter writer(event, payload);
  Fields::for_each_field(fields, writer);
  if (writer.has_payload()) {
    event.payload = static_cast<std::uint32_t>(batch.payloads.size());
    batch.payloads.push_back(std::move(payload));
  }
  return event;
}

/// Calls `function` with the fields of the event, in the structure of its type.
template <typename Function>
void visit(const Event& event, const Batch& batch, Function&& function) {
  switch (event.type) {
#define TAKT_TRACEPOINT(name, Fields, phase, fields)        \
  case EventType::name:                                     \
    function(fields_of<tracepoints::Fields>(event, batch)); \
    return;
#include "takt/tracepoints/all.def"
#undef TAKT_TRACEPOINT
  }
}

}  // namespace takt::events
