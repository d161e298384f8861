#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/capture/recording.hpp"

namespace takt::manager {

/// What `takt manage` asks of the program, as the JSON object of its one argument.
struct Settings {
  /// The goals file, read again on request.
  std::string goals;
  /// See live::Stream::start().
  capture::Tracer backend = capture::Tracer::ring;
  bool only_started = false;
  /// Changes nothing.
  bool dry_run = false;
  /// Percent, see manager::Options.
  int margin = 10;
  /// Percent, see manager::Options.
  int left = 25;
  /// Nanoseconds, see manager::Options.
  std::optional<std::int64_t> period;
  /// Cores that threads may be kept on, see available_cores().
  std::optional<std::vector<int>> pinned;
  /// Where decisions are logged; empty: nowhere.
  std::string log;
  /// The control socket; empty: none.
  std::string socket;
  /// What share of a core the slots of a shaping plan take, and the executors of its chains, which
  /// are left alone.
  double slots = 0;
  std::vector<std::string> shaped;
};

[[nodiscard]] Result<Settings> parse_settings(std::string_view text);

}  // namespace takt::manager
