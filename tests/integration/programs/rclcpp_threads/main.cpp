// Programs of rclcpp whose threads do what executors do not (programs.hpp).
//
//   rclcpp_threads PROGRAM MILLISECONDS

#include <cstdio>
#include <map>
#include <string>

#include "programs.hpp"
#include "rclcpp/rclcpp.hpp"

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(threads::milliseconds)> programs{
      {"rate", threads::rate},
      {"driver", threads::driver},
      {"driver_then_rate", threads::driver_then_rate},
      {"rate_after_shutdown", threads::rate_after_shutdown},
      {"spin_some", threads::spin_some},
      {"spin_within_callback", threads::spin_within_callback},
      {"isolated", threads::isolated},
      {"waitable", threads::waitable},
#ifdef HAS_ACTIONS
      {"action", threads::action},
#endif
  };
  const auto program = argc == 3 ? programs.find(argv[1]) : programs.end();
  if (program == programs.end()) {
    std::fprintf(stderr, "rclcpp_threads PROGRAM MILLISECONDS\n");
    return 2;
  }
  rclcpp::init(argc, argv);
  program->second(threads::milliseconds(std::stoi(argv[2])));
  rclcpp::shutdown();
  return 0;
}
