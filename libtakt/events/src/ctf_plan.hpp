#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ctf_metadata.hpp"
#include "takt/base/error.hpp"
#include "takt/events/schema.hpp"

namespace takt::events::ctf {

/// A number at a fixed place, byte-aligned and little-endian.
struct FixedNumber {
  std::uint32_t offset = 0;  // bytes
  std::uint8_t bytes = 0;    // 1, 2, 4 or 8
  bool is_signed = false;
  std::uint8_t value = 0;  // of Event::values
};

/// A member of the event's fields, in the order of the packet.
struct FieldPlan {
  const Type* type = nullptr;
  int slot = -1;
  /// How the field is stored; a field without a kind is skipped.
  std::optional<FieldKind> kind;
  std::size_t position = 0;  // among the values, texts or lists
};

/// Tells how to decode the fields of an event class.
struct EventPlan {
  std::string name;
  std::optional<EventType> type;
  /// If the type is EventType::foreign: the structure of the fields, if there is one.
  const Type* foreign = nullptr;
  const Type* context = nullptr;
  /// Alignment of the fields as a whole, bits.
  std::uint32_t align = 1;
  std::vector<FieldPlan> fields;
  /// The fields and their size in bytes, if all fields are fixed numbers. Nearly all events are
  /// such, and are decoded without a look at their types.
  std::vector<FixedNumber> numbers;
  std::optional<std::uint32_t> fixed_size;
  bool has_payload = false;
};

/// The layouts of event headers that LTTng writes: an id and part of a timestamp, with an escape to
/// the full ones.
enum class HeaderKind { compact, large, other };

/// Tells how to decode the context that LTTng adds to every event, if it has a fixed size.
struct FixedContext {
  std::uint32_t size = 0;
  std::optional<FixedNumber> process;
  std::optional<FixedNumber> name_space;
  std::optional<FixedNumber> thread;
  std::optional<FixedNumber> processor;
  std::optional<std::uint32_t> name_offset;
  std::uint32_t name_size = 0;
};

struct StreamPlan {
  std::uint64_t id = 0;
  const Type* packet_context = nullptr;
  const Type* header = nullptr;
  const Type* context = nullptr;
  HeaderKind header_kind = HeaderKind::other;
  std::optional<FixedContext> fixed_context;
  /// By event id.
  std::vector<EventPlan> events;
};

/// A trace's metadata made ready for decoding.
struct TracePlan {
  Metadata metadata;  // owns the types
  std::vector<StreamPlan> streams;

  [[nodiscard]] const StreamPlan* stream(std::uint64_t id) const;
};

/// `foreign`: events of unknown types are of type EventType::foreign. Errors: layouts that the
/// decoder does not know.
[[nodiscard]] Result<TracePlan> plan_decoding(Metadata metadata, bool foreign = false);

}  // namespace takt::events::ctf
