#include "takt/executor/origin.hpp"

#include <utility>

namespace takt::executor {
namespace {

thread_local const Instant* origin_of_thread = nullptr;

}  // namespace

std::optional<Instant> current_origin() {
  return origin_of_thread == nullptr ? std::nullopt : std::optional(*origin_of_thread);
}

OriginScope::OriginScope(const Instant& origin)
    : before_(std::exchange(origin_of_thread, &origin)) {}

OriginScope::~OriginScope() { origin_of_thread = before_; }

}  // namespace takt::executor
