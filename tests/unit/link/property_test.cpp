/// Order, priority, preemption, AND and OR, rates and timeouts on random schedules in simulated
/// time. TAKT_LINK_SCHEDULES sets how many, and TAKT_SEED others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "schedule.hpp"

namespace takt::link::schedules {
namespace {

constexpr std::uint64_t usual_schedules = 20'000;
constexpr std::size_t most_choices = 160;

using Numbers = std::vector<std::uint32_t>;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

std::string fault(const Numbers& numbers) {
  const Schedule schedule = read(numbers);
  const Observed observed = run(schedule);
  std::string found = violated(schedule, observed);
  const Observed wanted = expected(schedule);
  if (observed.slots == wanted.slots && observed.warnings == wanted.warnings) return found;
  found += "stream.push(message)+offset at time, as observed and as expected:\n";
  for (const Observed* each : {&observed, &wanted}) {
    for (const Slot& slot : each->slots) {
      found += std::to_string(slot.stream) + "." + std::to_string(slot.push) + "(" +
               std::to_string(slot.message) + ")+" + std::to_string(slot.offset) + " at " +
               std::to_string(slot.begin) + "  ";
    }
    found += "; " + std::to_string(each->warnings) + " warnings\n";
  }
  return found;
}

/// Fewer and smaller choices that fail as well.
Numbers shrink(Numbers numbers) {
  const auto attempt = [&](const std::function<void(Numbers&)>& change) {
    Numbers candidate = numbers;
    change(candidate);
    if (candidate == numbers || fault(candidate).empty()) return false;
    numbers = candidate;
    return true;
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    while (attempt([](Numbers& n) { n.resize(n.size() / 2); })) smaller = true;
    while (attempt([](Numbers& n) { n.resize(n.empty() ? 0 : n.size() - 1); })) smaller = true;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      smaller = attempt([i](Numbers& n) { n[i] = 0; }) || smaller;
      while (attempt([i](Numbers& n) { n[i] -= std::min(n[i], 1U); })) smaller = true;
    }
  }
  return numbers;
}

TEST(LinkSchedules, AreServedAsTheModelSays) {
  const std::uint64_t count = setting("TAKT_LINK_SCHEDULES", usual_schedules);
  std::mt19937_64 random(setting("TAKT_SEED", 1));
  std::uint64_t chunks = 0;
  std::uint64_t warnings = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Numbers numbers(most_choices);
    // Small numbers, which shrink fast.
    for (std::uint32_t& number : numbers) number = static_cast<std::uint32_t>(random() % 240);
    if (!fault(numbers).empty()) {
      const Numbers least = shrink(numbers);
      FAIL() << "schedule " << i << ", in short:\n" << describe(read(least)) << fault(least);
    }
    const Observed observed = run(read(numbers));
    chunks += observed.slots.size();
    warnings += observed.warnings;
  }
  // The schedules do send and warn.
  EXPECT_GT(chunks, 10 * count);
  EXPECT_GT(warnings, count / 2);
}

}  // namespace
}  // namespace takt::link::schedules
