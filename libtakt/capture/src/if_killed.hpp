#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"

namespace takt::capture {

/// Runs a command if this process ends while the object lives, that is, if it is killed. The
/// command removes what this process can no longer remove. A shell in a session of its own waits
/// for the end, since nothing in this process could.
class IfKilled {
 public:
  /// `kept`: a file that stays open, and so locked, until the command has ended; -1: none.
  [[nodiscard]] static Result<std::unique_ptr<IfKilled>> run(
      const std::vector<std::string>& command, int kept = -1);

  IfKilled(const IfKilled&) = delete;
  IfKilled& operator=(const IfKilled&) = delete;
  ~IfKilled();

 private:
  IfKilled(pid_t shell, Descriptor life) : shell_(shell), life_(std::move(life)) {}

  pid_t shell_;
  Descriptor life_;  // the shell's standard input
};

}  // namespace takt::capture
