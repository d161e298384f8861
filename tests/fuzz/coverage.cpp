#include <array>
#include <cstdint>

// libFuzzer counts the edges that its own compiler marks. GCC marks them by a call of one function
// (-fsanitize-coverage=trace-pc), which the linker turns into a call of ours (--wrap): it counts
// the edge in a table that libFuzzer reads. Two edges may share a counter, which costs the fuzzer
// little. In programs that are no fuzzers nobody reads the table.

extern "C" {

extern const char
    __executable_start;  // the linker's; addresses differ from run to run, offsets not

void __sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end);
void __wrap___sanitizer_cov_trace_pc();
// libFuzzer takes no comparisons of floating-point numbers.
void __sanitizer_cov_trace_cmpf(float left, float right);
void __sanitizer_cov_trace_cmpd(double left, double right);
}

namespace {

constexpr unsigned counter_bits = 16;
std::array<std::uint8_t, std::size_t{1} << counter_bits> counters;

[[gnu::constructor]] void show_counters() {
  __sanitizer_cov_8bit_counters_init(counters.data(), counters.data() + counters.size());
}

}  // namespace

void __wrap___sanitizer_cov_trace_pc() {
  const auto edge = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) -
                    reinterpret_cast<std::uintptr_t>(&__executable_start);
  // Fibonacci hashing: neighbouring edges get counters far apart.
  ++counters[static_cast<std::uint32_t>(edge * 0x9e3779b1U) >> (32 - counter_bits)];
}

void __sanitizer_cov_trace_cmpf(float, float) {}
void __sanitizer_cov_trace_cmpd(double, double) {}
