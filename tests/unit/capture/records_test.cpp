#include "ebpf/records.hpp"

#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "takt/base/descriptor.hpp"

namespace takt::capture::ebpf {
namespace {

constexpr std::uint32_t buffer_size = 4096;

bpf_insn instruction(int code, int to, int from, int offset, int value) {
  bpf_insn made{};
  made.code = static_cast<std::uint8_t>(code);
  made.dst_reg = static_cast<std::uint8_t>(to) & 15U;
  made.src_reg = static_cast<std::uint8_t>(from) & 15U;
  made.off = static_cast<std::int16_t>(offset);
  made.imm = value;
  return made;
}

/// A buffer of the kernel, and a program there that puts a record of one number into it.
class Buffer {
 public:
  explicit Buffer(int number)
      : map_(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "records", 0, 0, buffer_size, nullptr)) {
    const std::array program{
        instruction(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, number),
        instruction(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map_.get()),
        instruction(0, 0, 0, 0, 0),
        instruction(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
        instruction(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -8),
        instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, 8),
        instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, 0),
        instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_output),
        instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
        instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
    };
    program_ = Descriptor(bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "put", "GPL", program.data(),
                                        program.size(), nullptr));
  }

  [[nodiscard]] bool exists() const { return map_ && program_; }
  [[nodiscard]] int map() const { return map_.get(); }
  void put() const {
    std::array<char, 64> packet{};
    bpf_test_run_opts options{};
    options.sz = sizeof options;
    options.data_in = packet.data();
    options.data_size_in = packet.size();
    EXPECT_EQ(bpf_prog_test_run_opts(program_.get(), &options), 0);
  }

 private:
  Descriptor map_;
  Descriptor program_;
};

TEST(Records, ProbesThatRecordWithoutEndKeepNoReader) {
  constexpr std::uint64_t endless = 10'000;
  constexpr std::uint64_t at_once = buffer_size / sizeof(std::uint64_t);
  const Buffer busy(0);
  const Buffer other(1);
  if (!busy.exists() || !other.exists()) {
    GTEST_SKIP() << "programs in the kernel need privileges";
  }
  std::array<std::uint64_t, 2> taken{};
  Records records([&](std::span<const std::byte> record) {
    std::uint64_t number = 0;
    ASSERT_EQ(record.size(), sizeof number);
    std::memcpy(&number, record.data(), sizeof number);
    if (++taken.at(number) < endless && number == 0) {
      busy.put();
    }
  });
  ASSERT_EQ(records.add(busy.map(), buffer_size), 0);
  ASSERT_EQ(records.add(other.map(), buffer_size), 0);
  busy.put();
  other.put();
  records.consume();
  EXPECT_EQ(taken[0], at_once);
  EXPECT_EQ(taken[1], 1U) << "the other buffer has its turn";
  records.consume();
  EXPECT_EQ(taken[0], 2 * at_once) << "no record is lost";
}

}  // namespace
}  // namespace takt::capture::ebpf
