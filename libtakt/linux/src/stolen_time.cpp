#include "takt/linux/stolen_time.hpp"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace takt::linux_os {

Duration stolen_time() {
  std::ifstream file("/proc/stat");
  std::string of_all;
  std::getline(file, of_all);
  return stolen_time_by(of_all);
}

Duration stolen_time_by(std::string_view statistics) {
  std::istringstream fields{std::string(statistics)};
  std::string name;
  fields >> name;
  if (name != "cpu") return Duration{0};
  std::int64_t ticks = 0;
  // user, nice, system, idle, iowait, irq, softirq, steal
  for (int field = 0; field < 8; ++field) {
    if (!(fields >> ticks)) return Duration{0};
  }
  return Duration{std::chrono::seconds{1}} * ticks / sysconf(_SC_CLK_TCK);
}

}  // namespace takt::linux_os
