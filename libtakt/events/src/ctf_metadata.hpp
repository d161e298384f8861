#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "takt/base/error.hpp"

/// The metadata of a CTF 1.8 trace, as LTTng and similar tools write it. Anything beyond that is an
/// error here and is left to libbabeltrace2.
namespace takt::events::ctf {

struct Type;
using TypePointer = std::shared_ptr<const Type>;

struct Member {
  std::string name;  // without the leading underscore that LTTng puts before names
  TypePointer type;
  /// The slot in which decoding keeps the value for arrays and variants that depend on it; -1 if
  /// none does.
  int slot = -1;
};

/// Tags from lo to hi select this option of a variant.
struct Choice {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::size_t option = 0;
};

struct Type {
  enum class Kind { integer, floating, string, structure, array, sequence, variant };

  Kind kind = Kind::integer;
  std::uint32_t align = 1;  // bits
  /// How deep types are nested in this one, and how many types and choices of variants there are,
  /// each counted as often as it is named. Both are limited, so that decoding may recurse and its
  /// time is in proportion to the data.
  std::uint32_t depth = 1;
  std::uint32_t parts = 1;
  // For integers, enumerations and floating-point numbers:
  std::uint32_t size = 0;  // bits, at most 64
  bool is_signed = false;
  bool is_big_endian = false;
  bool is_text = false;
  bool is_clock = false;
  std::unordered_map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> labels;
  // For structures and variants:
  std::vector<Member> members;
  // For arrays and sequences:
  TypePointer element;
  std::uint64_t length = 0;
  // For sequences and variants: the slot that holds the length or tag.
  int slot = -1;
  std::vector<Choice> choices;
};

struct EventClass {
  std::string name;
  std::uint64_t id = 0;
  std::uint64_t stream_id = 0;
  TypePointer context;  // null: none
  TypePointer fields;
};

struct StreamClass {
  std::uint64_t id = 0;
  TypePointer packet_context;
  TypePointer event_header;
  TypePointer event_context;
};

struct Clock {
  std::uint64_t frequency = 1'000'000'000;
  std::string uuid;
  std::int64_t offset_seconds = 0;
  std::uint64_t offset_cycles = 0;
};

struct Metadata {
  TypePointer packet_header;  // null: none
  std::string uuid;
  std::optional<Clock> clock;
  std::unordered_map<std::string, std::string> environment;
  std::vector<StreamClass> streams;
  std::vector<EventClass> events;
  /// How many slots decoding needs.
  int slots = 0;
};

/// The text of a metadata file: LTTng's is cut into packets. Errors: damaged packets, no text.
[[nodiscard]] Result<std::string> metadata_text(std::string_view file);

/// Parses metadata text. Errors name the line.
[[nodiscard]] Result<Metadata> parse_metadata(std::string_view text);

}  // namespace takt::events::ctf
