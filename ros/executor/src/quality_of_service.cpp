#include "takt/executor/quality_of_service.hpp"

#include <rmw/qos_profiles.h>

namespace takt::executor {

rmw_qos_profile_t keep_last(std::size_t depth) {
  rmw_qos_profile_t profile = rmw_qos_profile_default;
  profile.depth = depth;
  return profile;
}

}  // namespace takt::executor
