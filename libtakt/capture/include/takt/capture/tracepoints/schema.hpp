#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "takt/capture/tracepoints/fields.h"

/// The tracepoints as data: what each event is called and what it holds. All events of all
/// supported distributions are here, in one fixed order, so that an event's number means the same
/// in every process.
namespace takt::capture::tracepoints {

/// The kinds of fields.h that leave something in the event.
enum class Kind : std::uint8_t { pointer, pointers, string, signed64, unsigned64, flag, gid };

struct Field {
  Kind kind;
  std::string_view name;
};

struct Tracepoint {
  constexpr Tracepoint(std::string_view its_provider, std::string_view its_name,
                       std::initializer_list<Field> its_fields)
      : provider(its_provider), name(its_name) {
    for (const auto& field : its_fields) {
      fields[field_count++] = field;
    }
  }

  std::string_view provider;
  std::string_view name;
  std::array<Field, 10> fields{};
  std::size_t field_count = 0;
};

/// Numbers of the events: positions in `all`.
enum class Event : std::uint8_t {
#define TAKT_TRACEPOINT(name, fields) name,
#include "takt/capture/tracepoints/all.def"
#undef TAKT_TRACEPOINT
};

#define TAKT_SCHEMA_FIELDS(fields) TAKT_LIST(TAKT_EACH(TAKT_SCHEMA_FIELD_A fields))
#define TAKT_SCHEMA_FIELD_A(kind, name) TAKT_SCHEMA_FIELD_##kind(name) TAKT_SCHEMA_FIELD_B
#define TAKT_SCHEMA_FIELD_B(kind, name) TAKT_SCHEMA_FIELD_##kind(name) TAKT_SCHEMA_FIELD_A
#define TAKT_SCHEMA_FIELD_A_END
#define TAKT_SCHEMA_FIELD_B_END
#define TAKT_SCHEMA_FIELD_pointer(name) \
  , Field { Kind::pointer, #name }
#define TAKT_SCHEMA_FIELD_pointers(name) \
  , Field { Kind::pointers, #name }
#define TAKT_SCHEMA_FIELD_string(name) \
  , Field { Kind::string, #name }
#define TAKT_SCHEMA_FIELD_signed64(name) \
  , Field { Kind::signed64, #name }
#define TAKT_SCHEMA_FIELD_unsigned64(name) \
  , Field { Kind::unsigned64, #name }
#define TAKT_SCHEMA_FIELD_flag(name) \
  , Field { Kind::flag, #name }
#define TAKT_SCHEMA_FIELD_gid(name) \
  , Field { Kind::gid, #name }
#define TAKT_SCHEMA_FIELD_version(name) \
  , Field { Kind::string, #name }
#define TAKT_SCHEMA_FIELD_unused(name)

#define TAKT_TRACEPOINT(name, fields) \
  Tracepoint(TAKT_PROVIDER, #name, {TAKT_SCHEMA_FIELDS(fields)}),
inline constexpr std::array all{
#include "takt/capture/tracepoints/all.def"
};
#undef TAKT_TRACEPOINT

/// Whether an event tells what an object is, once; the others refer to objects by their handles
/// (message-flow.md 1.3).
constexpr bool is_initialisation(Event event) {
  const std::string_view name = all[static_cast<std::size_t>(event)].name;
  return name.ends_with("_init") || name.ends_with("_added") || name.ends_with("_register") ||
         name.ends_with("_link_node") || name.ends_with("_ipb") ||
         name.ends_with("_to_subscription") || name.ends_with("_construct_ring_buffer") ||
         name.starts_with("message_link_");
}

/// The initialisation events, as a mask of numbers.
constexpr std::uint64_t initialisation_events() {
  std::uint64_t events = 0;
  for (std::size_t number = 0; number < all.size(); ++number) {
    events |= std::uint64_t{is_initialisation(static_cast<Event>(number))} << number;
  }
  return events;
}

static_assert(all.size() <= 64, "the set of enabled events is a 64-bit mask");

/// Identifies this list: writers and readers of different lists do not understand each other.
/// (FNV-1a of its text.)
constexpr std::uint64_t fingerprint() {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::string_view text) {
    for (const char character : text) {
      hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
    }
  };
  for (const auto& tracepoint : all) {
    mix(tracepoint.provider);
    mix(tracepoint.name);
    for (const auto& field : tracepoint.fields) {
      mix(field.name);
      hash = (hash ^ static_cast<unsigned char>(field.kind)) * 0x100000001b3;
    }
  }
  return hash;
}

}  // namespace takt::capture::tracepoints
