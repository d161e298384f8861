#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "takt/events/event.hpp"

namespace takt::events {

/// Where a field of an event goes in the event record.
enum class FieldKind {
  number,  ///< the next of Event::values
  handle,  ///< an address: the next of Event::values, shown in hexadecimal
  gid,     ///< a byte array: its first 16 bytes, big-endian, in the next two of Event::values
  text,    ///< the next of Payload::texts
  list,    ///< a sequence of handles: the next of Payload::lists
};

struct Field {
  std::string_view name;
  FieldKind kind = FieldKind::number;
};

/// Initialisation events tell once of an object that was made; run-time events refer to it by its
/// handle (message-flow 1.3). Those of the kernel's scheduler belong to no program.
enum class Phase { initialisation, run_time, scheduling };

/// Name and fields of an event type: the union over the ROS 2 distributions from Humble on
/// (message-flow 1.4), and Takt's own. Fields that a trace has beyond these are skipped.
struct Schema {
  static constexpr std::size_t max_fields = 10;

  EventType type;
  std::string_view name;
  Phase phase;
  std::array<Field, max_fields> field_list;  // ends with the first nameless one

  [[nodiscard]] constexpr std::span<const Field> fields() const {
    std::size_t count = 0;
    while (count < max_fields && !field_list[count].name.empty()) {
      ++count;
    }
    return std::span(field_list).first(count);
  }
};

/// All schemas, in the order of EventType.
[[nodiscard]] std::span<const Schema> schemas();

[[nodiscard]] const Schema& schema(EventType type);

/// The type of an event by its full name, "ros2:callback_start".
[[nodiscard]] std::optional<EventType> event_type(std::string_view name);

}  // namespace takt::events
