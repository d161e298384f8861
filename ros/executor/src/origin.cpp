#include "takt/executor/origin.hpp"

namespace takt::executor {
namespace {

thread_local std::optional<Instant> origin_of_thread;

}  // namespace

std::optional<Instant> current_origin() { return origin_of_thread; }

OriginScope::OriginScope(Instant origin) : before_(origin_of_thread) { origin_of_thread = origin; }

OriginScope::~OriginScope() { origin_of_thread = before_; }

}  // namespace takt::executor
