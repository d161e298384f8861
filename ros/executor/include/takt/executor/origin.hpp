#pragma once

#include <optional>

#include "takt/time/time.hpp"

/// The origin of an instance: the activation of the timer or other source on whose behalf it runs.
/// Chain-wide deadlines count from it.
namespace takt::executor {

/// The origin of the instance that runs on the calling thread; none: no executor of ours runs one.
[[nodiscard]] std::optional<Instant> current_origin();

/// Makes `origin` the current one as long as this object lives. It may change meanwhile.
class OriginScope {
 public:
  explicit OriginScope(const Instant& origin);
  ~OriginScope();
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;

 private:
  const Instant* before_;
};

}  // namespace takt::executor
