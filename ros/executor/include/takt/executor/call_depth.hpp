#pragma once

#include <cstddef>

namespace takt::executor {

/// Requests and responses of a service that wait at most, unless its maker says otherwise: those of
/// rmw_qos_profile_services_default.
inline constexpr std::size_t call_depth = 10;

}  // namespace takt::executor
