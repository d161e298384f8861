#include "takt/domains/domains.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "takt/domains/emulated_device.hpp"
#include "takt/domains/host_memory.hpp"

namespace takt::domains {
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Bytes mebibyte = Bytes{1} << 20;

/// Domains with emulated devices, on which time passes by this clock alone.
class DomainsTest : public testing::Test {
 protected:
  PoolId add_host() { return *domains.add_pool(*HostMemory::make(64 * mebibyte)); }
  PoolId add_emulated(std::uint32_t number, bool reaches_host = true,
                      const Pool::Settings& settings = {}) {
    return *domains.add_pool(make(number, reaches_host), settings);
  }
  std::unique_ptr<EmulatedDevice> make(std::uint32_t number, bool reaches_host = true) {
    return std::move(*EmulatedDevice::make({.number = number,
                                            .reaches_host = reaches_host,
                                            .wait = [this](nanoseconds time) { waited += time; }}));
  }
  std::span<std::byte> on_host(const BlockId& block) {
    Pool& pool = **domains.pool(block.pool);
    return pool.memory().on_host().subspan(block.offset, *pool.size(block.offset));
  }
  BlockId message(PoolId host_pool, Bytes bytes) {
    const auto block = domains.allocate(host_pool, bytes);
    std::uint8_t value = 0;
    for (std::byte& byte : on_host(*block)) byte = std::byte{value++};
    return *block;
  }

  Domains domains;
  nanoseconds waited{0};
};

std::string problem(const auto& result) {
  return result ? std::string("no error") : result.error().message;
}

TEST_F(DomainsTest, TheHostIsDomain0AndOthersComeInTheirOrder) {
  EXPECT_EQ(domains.add(host), 0U);
  EXPECT_EQ(domains.add({DeviceKind::emulated, 3}), 1U);
  EXPECT_EQ(domains.add({DeviceKind::cuda, 0}), 2U);
  EXPECT_EQ(domains.add({DeviceKind::emulated, 3}), 1U);
  EXPECT_THAT(domains.devices(),
              ElementsAre(host, Device{DeviceKind::emulated, 3}, Device{DeviceKind::cuda, 0}));
}

TEST_F(DomainsTest, RefusesA33rdDomain) {
  for (std::uint32_t number = 1; number < 32; ++number) {
    EXPECT_EQ(domains.add({DeviceKind::fpga, number}), number);
  }
  EXPECT_THAT(problem(domains.add({DeviceKind::fpga, 32})), HasSubstr("fpga 32: there are 32"));
  EXPECT_THAT(problem(domains.add_pool(make(0))), HasSubstr("emulated device 0: there are 32"));
  EXPECT_EQ(domains.add({DeviceKind::fpga, 31}), 31U);
}

TEST_F(DomainsTest, ACopyArrivesOnEveryWay) {
  const PoolId here = add_host();
  const PoolId one = add_emulated(0);
  const PoolId two = add_emulated(1);
  const PoolId back = add_host();
  BlockId block = message(here, 200'005);
  const std::vector<std::byte> sent(on_host(block).begin(), on_host(block).end());
  const std::vector<std::pair<PoolId, Way::Kind>> stops{{one, Way::Kind::from_host},
                                                        {two, Way::Kind::over_host},
                                                        {back, Way::Kind::to_host},
                                                        {here, Way::Kind::same_domain}};
  for (const auto& [stop, kind] : stops) {
    auto way = domains.connect(block.pool, stop, sent.size());
    ASSERT_TRUE(way.has_value()) << problem(way);
    EXPECT_EQ(way->kind, kind);
    const auto brought = domains.bring(*way, block);
    ASSERT_TRUE(brought.has_value()) << problem(brought);
    EXPECT_EQ(way->copies, kind == Way::Kind::same_domain ? 0U : 1U);
    EXPECT_EQ(way->bytes, way->copies * sent.size());
    EXPECT_TRUE(domains.release(block).has_value());
    block = *brought;
  }
  EXPECT_TRUE(std::ranges::equal(on_host(block), sent));
  EXPECT_TRUE(domains.release(block).has_value());
  for (const PoolId id : {here, one, two, back}) EXPECT_EQ((*domains.pool(id))->in_use(), 0U);
}

TEST_F(DomainsTest, A11_AnotherNumberIsAnotherDomain) {
  const PoolId one = add_emulated(0);
  const PoolId other = add_emulated(1);
  const PoolId same = add_emulated(0);
  EXPECT_EQ(domains.connect(one, other, 10)->kind, Way::Kind::over_host);
  auto way = domains.connect(one, same, 10);
  const auto block = domains.allocate(one, 10);
  EXPECT_EQ(domains.bring(*way, *block), *block) << "used once more, and not copied";
  EXPECT_EQ(waited, nanoseconds(0));
  EXPECT_TRUE(domains.release(*block).has_value());
  EXPECT_TRUE(domains.release(*block).has_value());
  EXPECT_FALSE(domains.release(*block).has_value());
}

TEST_F(DomainsTest, CopiesTakeALatencyAndTheirBytes) {
  const PoolId here = add_host();
  const PoolId there = add_emulated(0);
  auto way = domains.connect(here, there, 120'000);
  ASSERT_TRUE(domains.bring(*way, message(here, 120'000)).has_value());
  EXPECT_EQ(waited, nanoseconds(10'000 + 10'000));  // 10 µs, and 12 GB/s
  EXPECT_EQ(CopyCost{}.of(Bytes{1} << 56), nanoseconds(10'000 + 6'004'799'503'160'661));
}

TEST_F(DomainsTest, ADirectCopyIsPreferred) {
  const PoolId one = add_emulated(0, false);
  const PoolId other = add_emulated(1, false);
  int calls = 0;
  domains.add_direct_copy({DeviceKind::emulated, 0}, {DeviceKind::emulated, 1},
                          [&](DeviceMemory&, Offset, DeviceMemory&, Offset, Bytes) {
                            ++calls;
                            return Result<void>();
                          });
  auto way = domains.connect(one, other, 10);
  ASSERT_TRUE(way.has_value()) << problem(way);
  EXPECT_TRUE(way->buffer.empty());
  EXPECT_TRUE(domains.bring(*way, *domains.allocate(one, 10)).has_value());
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(domains.connect(other, one, 10).has_value()) << "it leads one way";
}

TEST_F(DomainsTest, APairThatCannotBeReachedIsAnErrorBeforeAnyMessage) {
  const PoolId here = add_host();
  const PoolId island = add_emulated(7, false);
  EXPECT_EQ(problem(domains.connect(here, island, 10)),
            "the host to emulated device 7: emulated device 7 cannot be reached from the host, and "
            "no direct copy is known");
  EXPECT_FALSE(domains.connect(island, here, 10).has_value());
  EXPECT_TRUE(domains.connect(island, island, 10).has_value());
}

TEST_F(DomainsTest, RefusesBlocksThatAreNotInUse) {
  const PoolId here = add_host();
  const PoolId there = add_emulated(0);
  auto way = domains.connect(here, there, 100);
  const BlockId block = message(here, 100);
  EXPECT_THAT(problem(domains.release({here, block.offset + 1})), HasSubstr("no block in use"));
  EXPECT_THAT(problem(domains.share({there, block.offset})), HasSubstr("no block in use"));
  EXPECT_THAT(problem(domains.bring(*way, {there, 0})), HasSubstr("the way begins at pool 0.1"));
  EXPECT_TRUE(domains.release(block).has_value());
  for (const auto& message : {problem(domains.release(block)), problem(domains.share(block)),
                              problem(domains.bring(*way, block))}) {
    EXPECT_THAT(message, HasSubstr("was it released already?"));
  }
  EXPECT_EQ((*domains.pool(there))->in_use(), 0U);
}

TEST_F(DomainsTest, AnIdThatIsUsedAgainIsNotTheOldOne) {
  const PoolId old = add_emulated(0);
  const auto block = domains.allocate(old, 10);
  EXPECT_THAT(problem(domains.remove_pool(old)), HasSubstr("1 of its blocks are in use"));
  EXPECT_TRUE(domains.release(*block).has_value());
  EXPECT_TRUE(domains.remove_pool(old).has_value());
  EXPECT_THAT(problem(domains.allocate(old, 10)), HasSubstr("not any more"));
  const PoolId young = add_emulated(0);
  EXPECT_EQ(young.index, old.index);
  ASSERT_TRUE(domains.allocate(young, 10).has_value());
  EXPECT_THAT(problem(domains.release(*block)), HasSubstr("pool 0.1: it is not there"));
  EXPECT_FALSE(domains.connect(old, young, 10).has_value());
  EXPECT_FALSE(domains.connect(young, {.index = 9, .generation = 1}, 10).has_value());
}

TEST_F(DomainsTest, AWayHasRoomForWhatItWasMadeFor) {
  const PoolId one = add_emulated(0);
  auto way = domains.connect(one, add_emulated(1), 99);
  EXPECT_THAT(problem(domains.bring(*way, *domains.allocate(one, 100))), HasSubstr("room for 99"));
  EXPECT_EQ(way->copies, 0U);
}

TEST_F(DomainsTest, ACopyThatFailsLeavesNoBlock) {
  const PoolId here = add_host();
  const PoolId there = add_emulated(0);
  domains.add_direct_copy(host, {DeviceKind::emulated, 0},
                          [](DeviceMemory&, Offset, DeviceMemory&, Offset, Bytes) -> Result<void> {
                            return error("the device has fallen off the bus");
                          });
  auto way = domains.connect(here, there, 10);
  EXPECT_THAT(problem(domains.bring(*way, message(here, 10))), HasSubstr("off the bus"));
  EXPECT_EQ((*domains.pool(there))->in_use(), 0U);
  EXPECT_EQ(way->copies, 0U);
}

TEST_F(DomainsTest, APoolGrowsBeforeItsMemoryIsUsedAndUpToItsLimit) {
  const PoolId id = add_emulated(0, true, {.step = 1, .limit = 8 * mebibyte});
  Pool& pool = **domains.pool(id);
  EXPECT_EQ(pool.provided(), 0U);
  const auto one = pool.allocate(1);
  EXPECT_EQ(pool.provided(), 2 * mebibyte) << "a granule of the device";
  const auto two = pool.allocate(3 * mebibyte);
  const auto three = pool.allocate(3 * mebibyte);
  ASSERT_TRUE(one && two && three);
  EXPECT_EQ(pool.provided(), 8 * mebibyte);
  EXPECT_THAT(problem(pool.allocate(2 * mebibyte)), HasSubstr("raise the pool's limit"));
  EXPECT_THAT(problem(pool.allocate(0)), HasSubstr("at least one"));
  EXPECT_THAT(problem(pool.allocate(~Bytes{0})), HasSubstr("limit"));
  EXPECT_TRUE(pool.release(*two).has_value());
  EXPECT_TRUE(pool.size(*one).has_value() && pool.size(*three).has_value())
      << "who releases a block releases no other";
  EXPECT_EQ(pool.allocate(3 * mebibyte), *two);
}

/// A driver that has no memory at first.
class Poor final : public DeviceMemory {
 public:
  [[nodiscard]] Device device() const override { return {DeviceKind::fpga, 0}; }
  [[nodiscard]] bool reaches_host() const override { return false; }
  [[nodiscard]] Bytes granule() const override { return 4096; }
  [[nodiscard]] Result<void> provide(Bytes bytes) override {
    if (is_poor) return error("out of memory");
    provided = bytes;
    return {};
  }
  [[nodiscard]] Result<void> copy_to(Offset, std::span<const std::byte>) override { return {}; }
  [[nodiscard]] Result<void> copy_from(Offset, std::span<std::byte>) override { return {}; }

  bool is_poor = true;
  Bytes provided = 0;
};

TEST(Pool, GivesOutNothingThatTheDriverHasNot) {
  auto made = std::make_unique<Poor>();
  Poor& driver = *made;
  Pool pool(std::move(made), {.step = 4096, .limit = mebibyte});
  EXPECT_EQ(problem(pool.allocate(5000)), "out of memory");
  EXPECT_EQ(problem(pool.allocate(5000)), "out of memory");
  EXPECT_EQ(pool.in_use(), 0U);
  driver.is_poor = false;
  EXPECT_EQ(pool.allocate(5000), 0U);
  EXPECT_EQ(driver.provided, 8192U);
}

TEST(EmulatedDevice, IsMappedByNobody) {
  const auto device = EmulatedDevice::make({.wait = [](nanoseconds) {}});
  ASSERT_TRUE((*device)->provide(4 * mebibyte).has_value());
  const std::vector<std::byte> sent(100, std::byte{5});
  ASSERT_TRUE((*device)->copy_to(1000, sent).has_value());
  EXPECT_TRUE((*device)->on_host().empty());
  const auto is_mapped = [] {
    std::ifstream maps("/proc/self/maps");
    const std::string text((std::istreambuf_iterator<char>(maps)), {});
    return text.find("takt-device") != std::string::npos;
  };
  EXPECT_FALSE(is_mapped());
  void* const at = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, (*device)->descriptor(), 0);
  EXPECT_TRUE(is_mapped()) << "this would be seen";
  munmap(at, 4096);
}

TEST(EmulatedDevice, A12_AnotherProcessReadsAMessageAtTheSameOffset) {
  const auto device = EmulatedDevice::make({.wait = [](nanoseconds) {}});
  ASSERT_TRUE((*device)->provide(4 * mebibyte).has_value());
  std::vector<std::byte> sent(70'000);
  for (std::size_t byte = 0; byte < sent.size(); ++byte) sent[byte] = std::byte(byte * 7 & 0xFF);
  ASSERT_TRUE((*device)->copy_to(3 * mebibyte + 9, sent).has_value());
  const pid_t child = fork();
  if (child == 0) {
    const auto there = EmulatedDevice::attach({.wait = [](nanoseconds) {}},
                                              Descriptor(dup((*device)->descriptor())));
    std::vector<std::byte> read(sent.size());
    const bool is_same =
        there && (*there)->copy_from(3 * mebibyte + 9, read).has_value() && read == sent;
    _exit(is_same ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(EmulatedDevice, RefusesCopiesBeyondItsMemoryAndMemoryThatIsNone) {
  const auto device = EmulatedDevice::make({.wait = [](nanoseconds) {}});
  ASSERT_TRUE((*device)->provide(4096).has_value());
  std::vector<std::byte> read(100);
  EXPECT_THAT(problem((*device)->copy_from(4050, read)), HasSubstr("memory is shorter"));
  EXPECT_FALSE(EmulatedDevice::attach({}, Descriptor()).has_value());
  EXPECT_THAT(problem((*device)->provide(Bytes{1} << 60)), HasSubstr("half of the machine's"));
}

TEST(EmulatedDevice, SleepsUnlessItIsTold) {
  const auto device = EmulatedDevice::make({.cost = {.latency = std::chrono::milliseconds(20)}});
  ASSERT_TRUE((*device)->provide(4096).has_value());
  std::vector<std::byte> read(100);
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE((*device)->copy_from(0, read).has_value());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
}

TEST(HostMemory, GrowsInPlaceUpToItsLimit) {
  const auto memory = HostMemory::make(mebibyte);
  ASSERT_TRUE((*memory)->provide(8192).has_value());
  std::byte* const first = (*memory)->on_host().data();
  first[8191] = std::byte{9};
  ASSERT_TRUE((*memory)->provide(mebibyte).has_value());
  EXPECT_EQ((*memory)->on_host().data(), first);
  EXPECT_EQ(first[8191], std::byte{9});
  EXPECT_THAT(problem((*memory)->provide(mebibyte + 4096)), HasSubstr("were reserved"));
}

}  // namespace
}  // namespace takt::domains
