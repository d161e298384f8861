#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/manager/decision.hpp"
#include "takt/manager/manager.hpp"
#include "takt/manager/promises.hpp"
#include "takt/manager/situation.hpp"

/// The log of decisions (`takt/decisions` version 1): JSON lines, the first with the options, each
/// of the others with a situation and what was decided.
namespace takt::manager {

/// With its line break, as all lines.
[[nodiscard]] std::string header_line(const Options& options);
/// `promises`: what was promised before, by the chain's name. No decision depends on it.
[[nodiscard]] std::string entry_line(const Situation& situation, const Decision& decision,
                                     const std::map<std::string, PromiseAccount>& promises = {});

/// The result of deciding again.
struct Replay {
  std::vector<Decision> decisions;
  /// A line for each decision that is different now.
  std::vector<std::string> differences;
};

/// Decides again in every situation of a log. `source` names it in messages. The text may be
/// hostile. Errors: not a log, or a line of it that cannot be read; a last line that was cut off is
/// passed over.
[[nodiscard]] Result<Replay> replay(std::string_view text, std::string_view source);

}  // namespace takt::manager
