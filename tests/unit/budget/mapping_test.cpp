#include "takt/budget/mapping.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>

/// Reservations on cores.
namespace takt::budget {
namespace {

using testing::ElementsAre;

std::vector<Load> loads(std::initializer_list<double> densities) {
  std::vector<Load> result;
  for (const double density : densities) result.push_back({.density = density});
  return result;
}

TEST(Mapping, PinsNothingWhereTheGlobalTestHolds) {
  // m = 2, largest 0.4: the limit is 2 - 0.4 less what both cores keep.
  const auto mapping = map_to_cores(loads({0.4, 0.4, 0.4}), {.numbers = {0, 1}, .capacity = 1});
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->kind, Mapping::Kind::global);
}

TEST(Mapping, CountsWhatTheKernelKeepsInTheGlobalTest) {
  const auto exact = loads({0.4, 0.4, 0.4, 0.4});
  EXPECT_EQ(map_to_cores(exact, {.numbers = {0, 1}, .capacity = 1})->kind, Mapping::Kind::global);
  EXPECT_EQ(map_to_cores(exact, {.numbers = {0, 1}, .capacity = 0.9})->kind,
            Mapping::Kind::partitioned);
}

TEST(Mapping, CountsEveryThreadInTheGlobalTest) {
  std::vector<Load> threads = loads({0.45});
  threads.front().threads = 4;
  EXPECT_FALSE(map_to_cores(threads, {.numbers = {0, 1}, .capacity = 1}).has_value());
}

TEST(Mapping, CountsWhatIsTakenInBothTests) {
  const auto exact = loads({0.4, 0.4});
  Cores cores{.numbers = {0, 1}, .capacity = 1, .taken = loads({0.4})};
  EXPECT_EQ(map_to_cores(exact, cores)->kind, Mapping::Kind::global);
  cores.taken = loads({0.6, 0.6});
  const auto beside = map_to_cores(exact, cores);
  ASSERT_TRUE(beside.has_value());
  EXPECT_EQ(beside->kind, Mapping::Kind::partitioned);
  EXPECT_EQ(beside->core_of.size(), 2U);
  EXPECT_NE(beside->core_of[0], beside->core_of[1]);
  cores.taken = loads({0.6, 0.7});
  EXPECT_FALSE(map_to_cores(exact, cores).has_value());
}

TEST(Mapping, WorstFitSpreadsTheLoad) {
  const auto mapping =
      map_to_cores(loads({0.9, 0.2, 0.3, 0.3}), {.numbers = {4, 6}, .capacity = 0.95});
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->kind, Mapping::Kind::partitioned);
  EXPECT_THAT(mapping->core_of, ElementsAre(4, 6, 6, 6));
}

TEST(Mapping, FirstFitFindsWhatWorstFitMisses) {
  // Worst fit puts 0.4 and 0.35 on different cores, and 0.65 with neither... then 0.6 has no room.
  const auto mapping =
      map_to_cores(loads({0.5, 0.4, 0.3, 0.3, 0.3, 0.2}), {.numbers = {0, 1}, .capacity = 1});
  ASSERT_TRUE(mapping.has_value());
  std::map<int, double> used;
  const std::vector<double> densities = {0.5, 0.4, 0.3, 0.3, 0.3, 0.2};
  for (std::size_t i = 0; i < densities.size(); ++i) used[mapping->core_of[i]] += densities[i];
  EXPECT_DOUBLE_EQ(used[0], 1);
  EXPECT_DOUBLE_EQ(used[1], 1);
}

TEST(Mapping, KeepsLoadsOnTheCoresThatTheyHaveToBeOn) {
  std::vector<Load> given = loads({0.1, 0.5});
  given[0].core = 1;
  const auto mapping = map_to_cores(given, {.numbers = {0, 1}, .capacity = 0.95});
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->kind, Mapping::Kind::partitioned);
  EXPECT_EQ(mapping->core_of[0], 1);

  given[0].core = 2;
  EXPECT_FALSE(map_to_cores(given, {.numbers = {0, 1}, .capacity = 0.95}).has_value());
}

TEST(Mapping, UsesOnlyTheCoresThatThreadsMayBeKeptOn) {
  Cores cores{.numbers = {0, 1, 2}, .capacity = 0.9, .pinnable = std::vector{1, 2}};
  EXPECT_EQ(map_to_cores(loads({0.2, 0.2}), cores)->kind, Mapping::Kind::global);
  const auto pinned = map_to_cores(loads({0.8, 0.8}), cores);
  ASSERT_TRUE(pinned.has_value());
  EXPECT_THAT(pinned->core_of, testing::UnorderedElementsAre(1, 2));
  EXPECT_FALSE(map_to_cores(loads({0.8, 0.8, 0.8}), cores).has_value());
  cores.pinnable.emplace();
  EXPECT_FALSE(map_to_cores(loads({0.8, 0.8}), cores).has_value());
}

TEST(Mapping, TenTenthsFillACore) {
  EXPECT_TRUE(map_to_cores(std::vector<Load>(10, {.density = 0.1}), {.numbers = {0}, .capacity = 1})
                  .has_value());
  EXPECT_FALSE(
      map_to_cores(std::vector<Load>(11, {.density = 0.1}), {.numbers = {0}, .capacity = 1})
          .has_value());
}

// ros-llama S-7, fact 25: every accepted plan has at most the capacity on each core, and other
// cores carry nothing.
TEST(Mapping, Fact25NoCoreCarriesMoreThanItsCapacity) {
  std::mt19937 random(25);
  std::uniform_real_distribution<double> density(0.01, 0.6);
  int partitioned = 0;
  int refused = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<Load> given(1 + random() % 9);
    for (Load& load : given) load.density = density(random);
    const Cores cores{.numbers = {1, 2, 3}, .capacity = 0.95};
    const auto mapping = map_to_cores(given, cores);
    if (!mapping) {
      ++refused;
      continue;
    }
    if (mapping->kind == Mapping::Kind::global) continue;
    ++partitioned;
    ASSERT_EQ(mapping->core_of.size(), given.size());
    std::map<int, double> used;
    for (std::size_t i = 0; i < given.size(); ++i) used[mapping->core_of[i]] += given[i].density;
    for (const auto& [core, total] : used) {
      EXPECT_THAT(cores.numbers, testing::Contains(core));
      EXPECT_LE(total, cores.capacity + 1e-9);
    }
  }
  EXPECT_GT(partitioned, 50);
  EXPECT_GT(refused, 20);
}

TEST(Mapping, LoadsThatExceedTheCoresHaveNoMapping) {
  const Cores cores{.numbers = {0, 1}, .capacity = 0.9, .taken = {{.density = 0.2}}};
  EXPECT_FALSE(exceed(std::vector<Load>(4, {.density = 0.4}), cores));
  EXPECT_TRUE(exceed(std::vector<Load>(4, {.density = 0.401}), cores));
  EXPECT_TRUE(exceed(std::vector<Load>(2, {.density = 0.401, .threads = 2}), cores));
  EXPECT_FALSE(exceed(std::vector<Load>(2, {.density = 0.45, .core = 1}), cores));
  EXPECT_TRUE(exceed(std::vector<Load>(2, {.density = 0.451, .core = 1}), cores));
}

}  // namespace
}  // namespace takt::budget
