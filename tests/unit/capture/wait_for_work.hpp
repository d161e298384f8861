#pragma once

#include <cstdint>

#include "takt/tracepoints/tracepoints.hpp"

namespace takt::capture::ring {

/// The event that tests write where any will do. It has one signed 64-bit field.
constexpr auto wait_for_work =
    static_cast<std::uint8_t>(tracepoints::EventType::rclcpp_executor_wait_for_work);

}  // namespace takt::capture::ring
