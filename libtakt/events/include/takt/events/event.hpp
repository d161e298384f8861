#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "takt/events/threads.hpp"
#include "takt/time/time.hpp"
#include "takt/tracepoints/tracepoints.hpp"

namespace takt::events {

/// The events that the interpreter understands, and one type for all others of a trace
/// (OpenOptions::foreign).
using tracepoints::EventType;

inline constexpr std::size_t event_type_count = tracepoints::all.size();

/// Tells where the event record holds a field.
enum class FieldKind {
  number,  ///< the next of Event::values
  handle,  ///< an address: the next of Event::values, shown in hexadecimal
  gid,     ///< a byte array: its first 16 bytes, big-endian, in the next two of Event::values
  text,    ///< the next of Payload::texts
  list,    ///< a sequence of handles: the next of Payload::lists
};

constexpr FieldKind field_kind(tracepoints::Kind kind) {
  switch (kind) {
    case tracepoints::Kind::pointer:
      return FieldKind::handle;
    case tracepoints::Kind::pointers:
      return FieldKind::list;
    case tracepoints::Kind::string:
    case tracepoints::Kind::thread_name:
      return FieldKind::text;
    case tracepoints::Kind::gid:
      return FieldKind::gid;
    case tracepoints::Kind::signed64:
    case tracepoints::Kind::unsigned64:
    case tracepoints::Kind::signed32:
    case tracepoints::Kind::flag:
      break;
  }
  return FieldKind::number;
}

/// Counts the values, texts and lists of a record.
struct RecordSize {
  std::size_t values = 0;
  std::size_t texts = 0;
  std::size_t lists = 0;

  constexpr void add(FieldKind kind) {
    switch (kind) {
      case FieldKind::number:
      case FieldKind::handle:
        values += 1;
        break;
      case FieldKind::gid:
        values += 2;
        break;
      case FieldKind::text:
        texts += 1;
        break;
      case FieldKind::list:
        lists += 1;
        break;
    }
  }
  /// The place of a field of this kind if it is added next.
  [[nodiscard]] constexpr std::size_t position(FieldKind kind) const {
    return kind == FieldKind::text ? texts : kind == FieldKind::list ? lists : values;
  }
};

/// The record of any event fits into this.
inline constexpr RecordSize max_size = [] {
  RecordSize most;
  for (const auto& tracepoint : tracepoints::all) {
    RecordSize size;
    for (std::size_t i = 0; i < tracepoint.field_count; ++i) {
      size.add(field_kind(tracepoint.fields[i].kind));
    }
    most = {std::max(most.values, size.values), std::max(most.texts, size.texts),
            std::max(most.lists, size.lists)};
  }
  return most;
}();

inline constexpr std::uint32_t no_payload = UINT32_MAX;

/// Larger numbers of processors count as this one.
inline constexpr std::uint64_t largest_processor = UINT16_MAX - 1;

/// Longest list that is kept. The elements beyond it are counted (StreamLosses::cut_elements).
inline constexpr std::uint64_t longest_list = 1 << 16;

/// The texts and lists of an event. Few events have any, most of them initialisation events.
struct Payload {
  std::array<std::string, max_size.texts> texts;
  std::array<std::vector<std::uint64_t>, max_size.lists> lists;

  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const std::string& text : texts) {
      sum += text.size();
    }
    for (const auto& list : lists) {
      sum += list.size() * sizeof list[0];
    }
    return sum;
  }
};

/// Events are gathered until there are so many, or until their payloads have so many bytes. The
/// latter bounds the memory where each event has the longest lists and texts.
inline constexpr std::size_t most_events = 4096;
inline constexpr std::size_t most_payload_bytes = std::size_t{1} << 20;

/// One event of a known type. Its fields are in the order of the type's schema, for which
/// fields.hpp has names; signed numbers are in two's complement; a field that this version of ROS 2
/// does not write is 0.
struct Event {
  Instant time;
  ThreadIndex thread;
  EventType type{};
  std::uint16_t cpu = 0;
  /// Position in the batch's payloads, or no_payload.
  std::uint32_t payload = no_payload;
  std::array<std::uint64_t, max_size.values> values{};
};

/// Consecutive events in time order. Re-used from read to read, so reading allocates nothing once
/// warm.
struct Batch {
  std::vector<Event> events;
  std::vector<Payload> payloads;

  void clear() {
    events.clear();
    payloads.clear();
  }
  /// The event's payload; an empty one if it has none.
  [[nodiscard]] const Payload& payload(const Event& event) const {
    static const Payload empty{};
    return event.payload == no_payload ? empty : payloads[event.payload];
  }
};

}  // namespace takt::events
