#pragma once

#include <memory>
#include <vector>

#include "subject.hpp"

namespace takt::benchmark {

/// Takt's executors on rcl: the default one's rules, and the events executor.
[[nodiscard]] std::vector<std::unique_ptr<Subject>> rcl_subjects();

}  // namespace takt::benchmark
