#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "takt/tracepoints/fields.h"

/// The tracepoints as data: what each event is called and what it holds. All events of all
/// supported distributions are here, in one fixed order, so that an event's number means the same
/// in every process.
namespace takt::tracepoints {

/// The kinds of fields.h that put a field into the event.
enum class Kind : std::uint8_t {
  pointer,
  pointers,
  string,
  signed64,
  unsigned64,
  flag,
  gid,
  signed32,
  thread_name,
};

struct Field {
  Kind kind;
  std::string_view name;
};

/// An initialisation event describes an object once, when it is made; run-time events refer to the
/// object by its handle (message-flow.md 1.3). Recorders keep initialisation events longer than
/// others, because the others mean little without them. Events of the kernel's scheduler belong to
/// no program.
enum class Phase : std::uint8_t { initialisation, run_time, scheduling };

struct Tracepoint {
  constexpr Tracepoint(std::string_view its_provider, std::string_view its_name, Phase its_phase,
                       std::initializer_list<Field> its_fields)
      : provider(its_provider), name(its_name), phase(its_phase) {
    if (!provider.empty() && name.starts_with(provider)) {
      name.remove_prefix(provider.size() + 1);
    }
    for (const auto& field : its_fields) {
      fields[field_count++] = field;
    }
  }

  std::string_view provider;  // empty for the kernel
  std::string_view name;
  Phase phase;
  std::array<Field, 10> fields{};
  std::size_t field_count = 0;
};

/// Numbers of the events: positions in `all`.
enum class EventType : std::uint8_t {
#define TAKT_TRACEPOINT(name, Fields, phase, fields) name,
#include "takt/tracepoints/all.def"
#undef TAKT_TRACEPOINT
};

/// What rcl:call says was called.
enum class RclFunction : std::uint8_t { timer_call, trigger_guard_condition };

#define TAKT_SCHEMA_FIELDS(fields) TAKT_LIST(TAKT_EACH(TAKT_SCHEMA_FIELD_A fields))
#define TAKT_SCHEMA_FIELD_A(kind, name) TAKT_SCHEMA_FIELD_##kind(name) TAKT_SCHEMA_FIELD_B
#define TAKT_SCHEMA_FIELD_B(kind, name) TAKT_SCHEMA_FIELD_##kind(name) TAKT_SCHEMA_FIELD_A
#define TAKT_SCHEMA_FIELD_A_END
#define TAKT_SCHEMA_FIELD_B_END
#define TAKT_SCHEMA_FIELD_OF(kind, name) \
  , Field { Kind::kind, #name }
#define TAKT_SCHEMA_FIELD_pointer(name) TAKT_SCHEMA_FIELD_OF(pointer, name)
#define TAKT_SCHEMA_FIELD_pointers(name) TAKT_SCHEMA_FIELD_OF(pointers, name)
#define TAKT_SCHEMA_FIELD_string(name) TAKT_SCHEMA_FIELD_OF(string, name)
#define TAKT_SCHEMA_FIELD_signed64(name) TAKT_SCHEMA_FIELD_OF(signed64, name)
#define TAKT_SCHEMA_FIELD_unsigned64(name) TAKT_SCHEMA_FIELD_OF(unsigned64, name)
#define TAKT_SCHEMA_FIELD_flag(name) TAKT_SCHEMA_FIELD_OF(flag, name)
#define TAKT_SCHEMA_FIELD_gid(name) TAKT_SCHEMA_FIELD_OF(gid, name)
#define TAKT_SCHEMA_FIELD_version(name) TAKT_SCHEMA_FIELD_OF(string, name)
#define TAKT_SCHEMA_FIELD_unused(name)
#define TAKT_SCHEMA_FIELD_signed32(name) TAKT_SCHEMA_FIELD_OF(signed32, name)
#define TAKT_SCHEMA_FIELD_thread_name(name) TAKT_SCHEMA_FIELD_OF(thread_name, name)

#define TAKT_TRACEPOINT(name, Fields, phase, fields) \
  Tracepoint(TAKT_PROVIDER, #name, Phase::phase, {TAKT_SCHEMA_FIELDS(fields)}),
/// Every event that Takt knows.
inline constexpr std::array all{
#include "takt/tracepoints/all.def"
};
/// The events of programs and of their recorders: all except the kernel's.
inline constexpr std::array of_programs{
#include "takt/tracepoints/programs.def"
};
#undef TAKT_TRACEPOINT

constexpr const Tracepoint& of(EventType type) { return all[static_cast<std::size_t>(type)]; }

/// "ros2:callback_start", "sched_switch".
inline std::string full_name(EventType type) {
  const auto& tracepoint = of(type);
  std::string name(tracepoint.provider);
  return (name.empty() ? name : name + ':').append(tracepoint.name);
}

/// Bytes of a field of kind thread_name; unused bytes are 0.
inline constexpr std::size_t thread_name_size = 16;

constexpr bool is_initialisation(EventType type) { return of(type).phase == Phase::initialisation; }

/// So many events, the first ones, can be chosen: a set of them is a mask of their numbers. The
/// others are those that recorders write in any case.
inline constexpr std::size_t choosable = std::min<std::size_t>(of_programs.size(), 64);

static_assert(std::ranges::all_of(of_programs.begin() + choosable, of_programs.end(),
                                  [](const Tracepoint& tracepoint) {
                                    return tracepoint.name == "unrecorded_process" ||
                                           tracepoint.name == "selection";
                                  }),
              "the set of enabled events is a 64-bit mask");

/// The initialisation events, as a mask of numbers.
constexpr std::uint64_t initialisation_events() {
  std::uint64_t events = 0;
  for (std::size_t number = 0; number < choosable; ++number) {
    events |= std::uint64_t{is_initialisation(static_cast<EventType>(number))} << number;
  }
  return events;
}

/// Identifies the list of programs' events: writers and readers of different lists do not
/// understand each other. (FNV-1a of its text.)
constexpr std::uint64_t fingerprint() {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::string_view text) {
    for (const char character : text) {
      hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
    }
  };
  for (const auto& tracepoint : of_programs) {
    mix(tracepoint.provider);
    mix(tracepoint.name);
    for (const auto& field : tracepoint.fields) {
      mix(field.name);
      hash = (hash ^ static_cast<unsigned char>(field.kind)) * 0x100000001b3;
    }
  }
  return hash;
}

}  // namespace takt::tracepoints
