#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "subject.hpp"

namespace takt::benchmark {

/// rclcpp's executors, EventsCBGExecutor where CMake finds cm_executors, and Takt's for rclcpp,
/// with so many threads, 1 or 2; the first is rclcpp's best. `intra_process`: messages do not pass
/// the middleware.
[[nodiscard]] std::vector<std::unique_ptr<Subject>> rclcpp_subjects(std::size_t threads,
                                                                    bool intra_process);

}  // namespace takt::benchmark
