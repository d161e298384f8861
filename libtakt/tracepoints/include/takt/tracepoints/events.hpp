#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "takt/tracepoints/fields.h"
#include "takt/tracepoints/tracepoints.hpp"

/// One structure for each event, with the event's fields by name:
///
///   struct RclPublisherInit {
///     static constexpr EventType type = EventType::rcl_publisher_init;
///     Handle publisher_handle;
///     Handle node_handle;
///     Handle rmw_publisher_handle;
///     std::string_view topic_name;
///     std::uint64_t queue_depth;
///     // Calls function(field) for each field of `self`, in the order of the list.
///     static void for_each_field(auto& self, auto&& function);
///   };
///
/// Texts and lists point into memory that belongs to the code that made the structure.
namespace takt::tracepoints {

/// The address of an object in the traced process.
using Handle = std::uint64_t;

/// The 16 bytes that identify a reader, writer, client or service to the middleware, big-endian.
using Gid = std::array<std::uint64_t, 2>;

// The name of a field is the name of its member, except where C++ does not allow that:
// TAKT_RENAME_field is then "_, member".
#define TAKT_MEMBER(name) TAKT_SECOND(TAKT_RENAME_##name, name, _)
#define TAKT_SECOND(...) TAKT_SECOND_(__VA_ARGS__)
#define TAKT_SECOND_(first, second, ...) second
#define TAKT_RENAME_namespace _, name_space

#define TAKT_MEMBERS(fields) TAKT_EACH(TAKT_MEMBER_A fields)
#define TAKT_MEMBER_A(kind, name) TAKT_MEMBER_##kind(TAKT_MEMBER(name)) TAKT_MEMBER_B
#define TAKT_MEMBER_B(kind, name) TAKT_MEMBER_##kind(TAKT_MEMBER(name)) TAKT_MEMBER_A
#define TAKT_MEMBER_A_END
#define TAKT_MEMBER_B_END
#define TAKT_MEMBER_pointer(name) Handle name{};
#define TAKT_MEMBER_pointers(name) std::span<const Handle> name{};
#define TAKT_MEMBER_string(name) std::string_view name{};
#define TAKT_MEMBER_signed64(name) std::int64_t name{};
#define TAKT_MEMBER_unsigned64(name) std::uint64_t name{};
#define TAKT_MEMBER_flag(name) bool name{};
#define TAKT_MEMBER_gid(name) Gid name{};
#define TAKT_MEMBER_version(name) std::string_view name{};
#define TAKT_MEMBER_unused(name)
#define TAKT_MEMBER_signed32(name) std::int32_t name{};
#define TAKT_MEMBER_thread_name(name) std::string_view name{};

#define TAKT_VISITS(fields) TAKT_EACH(TAKT_VISIT_A fields)
#define TAKT_VISIT_A(kind, name) TAKT_VISIT_##kind(TAKT_MEMBER(name)) TAKT_VISIT_B
#define TAKT_VISIT_B(kind, name) TAKT_VISIT_##kind(TAKT_MEMBER(name)) TAKT_VISIT_A
#define TAKT_VISIT_A_END
#define TAKT_VISIT_B_END
#define TAKT_VISIT_pointer(name) function(self.name);
#define TAKT_VISIT_pointers(name) function(self.name);
#define TAKT_VISIT_string(name) function(self.name);
#define TAKT_VISIT_signed64(name) function(self.name);
#define TAKT_VISIT_unsigned64(name) function(self.name);
#define TAKT_VISIT_flag(name) function(self.name);
#define TAKT_VISIT_gid(name) function(self.name);
#define TAKT_VISIT_version(name) function(self.name);
#define TAKT_VISIT_unused(name)
#define TAKT_VISIT_signed32(name) function(self.name);
#define TAKT_VISIT_thread_name(name) function(self.name);

#define TAKT_TRACEPOINT(name, Fields, phase, fields)                             \
  struct Fields {                                                                \
    static constexpr EventType type = EventType::name;                           \
    TAKT_MEMBERS(fields)                                                         \
    template <typename Self, typename Function>                                  \
    static constexpr void for_each_field([[maybe_unused]] Self& self,            \
                                         [[maybe_unused]] Function&& function) { \
      TAKT_VISITS(fields)                                                        \
    }                                                                            \
  };
#include "takt/tracepoints/all.def"
#undef TAKT_TRACEPOINT

/// The fields of an initialisation event.
template <typename Fields>
concept Initialisation = is_initialisation(Fields::type);

}  // namespace takt::tracepoints
