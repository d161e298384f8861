// One executor's measurement, for counts.py: callgrind counts the instructions that its messages
// take. Arguments: threads, "within" or "middleware", "dispatch" or "wake-up", name of the
// executor; without a name, all names.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "rclcpp_subjects.hpp"

int main(int count, char** arguments) {
  const std::vector<std::string_view> words(arguments + 1, arguments + count);
  if (words.size() < 3) return EXIT_FAILURE;
  const auto subjects =
      takt::benchmark::rclcpp_subjects(words[0] == "1" ? 1 : 2, words[1] == "within");
  if (words.size() == 3) {
    for (const auto& subject : subjects) fmt::print("{}\n", subject->name());
    return EXIT_SUCCESS;
  }
  const auto subject = std::ranges::find(subjects, words[3], &takt::benchmark::Subject::name);
  if (subject == subjects.end()) return EXIT_FAILURE;
  takt::benchmark::Round round;
  fmt::print("{}\n", words[2] == "dispatch" ? takt::benchmark::measure_dispatch(**subject, round)
                                            : takt::benchmark::measure_wake_ups(**subject, round));
}
