#pragma once

#include <string>
#include <string_view>

#include "takt/base/error.hpp"

namespace takt::threads {

/// What `takt apply` asks of the program, as the JSON object of its one argument.
struct Settings {
  /// The takt/threads document, and its name in messages.
  std::string text;
  std::string source;
  /// See live::Stream::start().
  bool only_started = false;
};

[[nodiscard]] Result<Settings> parse_settings(std::string_view text);

}  // namespace takt::threads
