#pragma once

#include <memory>
#include <vector>

#include "subject.hpp"

namespace takt::benchmark {

/// rclcpp's executors and Takt's for rclcpp. `intra_process`: messages do not pass the middleware.
[[nodiscard]] std::vector<std::unique_ptr<Subject>> rclcpp_subjects(bool intra_process);

}  // namespace takt::benchmark
