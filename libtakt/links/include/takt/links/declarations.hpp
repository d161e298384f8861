#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/base/selection.hpp"
#include "takt/links/evidence.hpp"
#include "takt/links/link.hpp"
#include "takt/time/time.hpp"

namespace takt::links {

/// What people say of the links within nodes, in a goals file or a file of its own (docs/goals.md,
/// "Links"). Names are patterns (takt/base/selection.hpp).
struct Declarations {
  /// A callback uses, or does not use, the newest messages of topics.
  struct Use {
    std::string node;
    /// The callback: the node's timers of this period, or those called so, or that receive this
    /// topic; neither: any.
    std::optional<Duration> timer{};
    std::string callback{};
    std::vector<std::string> topics;
    bool is_denied = false;
    /// The entry's place in the file, for messages.
    std::string where{};
  };
  /// Callbacks of a node complete sets of messages together; or a callback does so with no others.
  struct Join {
    enum class Kind : std::uint8_t { and_, newest, exact_time, approximate_time, latest_time };
    /// "node:topic"; the first is the one that `is_denied` is about.
    std::vector<std::string> inputs;
    Kind kind = Kind::newest;
    bool is_denied = false;
    std::string where{};
  };
  std::vector<Use> uses{};
  std::vector<Join> joins{};
  /// Where links are inferred.
  Selection inferred{};
};

/// Reads `links`, `exclude` and `include` of a YAML file and leaves the rest to others. `source`
/// names it in messages. The text may be hostile, as for goals::parse().
[[nodiscard]] Result<Declarations> parse_declarations(std::string_view text,
                                                      std::string_view source);

/// Links as people and recordings show them, and a line for each declaration that has no effect.
struct Declared {
  std::vector<Link> links;
  std::vector<std::string> lines;
};

/// Adds what is declared to the links that are known otherwise, before them, and takes away what is
/// denied. A declared use or join takes the place of inferred ones. `declarations` may be null.
[[nodiscard]] Declared with_declarations(std::vector<Link> links, const Declarations* declarations,
                                         const Evidence& evidence,
                                         const execution::Objects& objects);

}  // namespace takt::links
