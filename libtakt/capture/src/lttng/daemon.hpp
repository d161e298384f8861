#pragma once

#include <string>
#include <vector>

#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"

namespace takt::capture::lttng {

/// The LTTng session daemon that serves this user, root's or one of the user's own, as long as a
/// recorder needs it. Members of group `tracing` may use root's, too.
class Daemon {
 public:
  /// Starts a daemon if none answers. Errors: LTTng is not installed; the daemon cannot start.
  [[nodiscard]] static Result<Daemon> ensure();

  Daemon() = default;
  Daemon(Daemon&&) noexcept = default;
  Daemon& operator=(Daemon&&) noexcept = default;
  /// Ends the daemon if a recorder started it, this one or another, and neither a recorder nor a
  /// session needs it. To be called when this recorder's session is destroyed.
  ~Daemon();

  /// A command that does the same for a recorder that was killed. Destroys its session first.
  [[nodiscard]] static std::vector<std::string> after_kill(const std::string& session);

 private:
  Descriptor use_;  // the daemon's file, locked together with other recorders
};

}  // namespace takt::capture::lttng
