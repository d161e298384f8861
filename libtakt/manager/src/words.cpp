#include "words.hpp"

#include <fmt/format.h>

#include <chrono>

namespace takt::manager {

std::string milliseconds(Duration time) {
  return fmt::format("{:.3g} ms", std::chrono::duration<double, std::milli>(time).count());
}

}  // namespace takt::manager
