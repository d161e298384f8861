#pragma once

#include "takt/time/time.hpp"

namespace takt::budget {

constexpr Duration ms(std::int64_t count) { return std::chrono::milliseconds{count}; }

}  // namespace takt::budget
