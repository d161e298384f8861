#include "takt/bridge/wire.hpp"

#include <cassert>

namespace takt::bridge {

namespace {

/// "tkb" and the version of what follows.
constexpr std::uint32_t magic = 0x746b6201;
constexpr std::uint8_t reliable_flag = 1;
constexpr std::uint8_t transient_local_flag = 2;

/// Numbers are little endian.
template <typename Number>
void put(std::byte*& at, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    *at++ = static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xFFU);
  }
}

class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Number>
  Number get() {
    std::uint64_t number = 0;
    const std::span<const std::byte> digits = get_bytes(sizeof(Number));
    for (std::size_t i = 0; i < digits.size(); ++i) {
      number |= std::to_integer<std::uint64_t>(digits[i]) << (8 * i);
    }
    return static_cast<Number>(number);
  }

  std::span<const std::byte> get_bytes(std::size_t count) {
    if (count > bytes_.size()) {
      failed_ = true;
      return {};
    }
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool failed_ = false;
};

}  // namespace

std::array<std::byte, header_bytes> write(const Header& header) {
  std::array<std::byte, header_bytes> bytes{};
  std::byte* at = bytes.data();
  put(at, header.to);
  put(at, header.publisher);
  put(at, header.number);
  return bytes;
}

std::optional<Header> read_header(std::span<const std::byte> message) {
  Input input(message);
  Header header;
  header.to = input.get<std::uint64_t>();
  header.publisher = input.get<std::uint64_t>();
  header.number = input.get<std::uint64_t>();
  return input.failed() ? std::nullopt : std::optional(header);
}

std::int64_t stamp(const Header& header) {
  // Mixed by SplitMix64, as neighbouring numbers would be taken for rounded times.
  std::uint64_t mixed = header.publisher + header.number * 0x9e37'79b9'7f4a'7c15U;
  mixed = (mixed ^ mixed >> 30) * 0xbf58'476d'1ce4'e5b9U;
  mixed = (mixed ^ mixed >> 27) * 0x94d0'49bb'1331'11ebU;
  // Documents hold numbers of up to 2^51.
  return static_cast<std::int64_t>((mixed ^ mixed >> 31) >> 14);
}

std::vector<std::byte> write(const State& state) {
  assert(state.offers.size() <= most_offers);
  std::vector<std::byte> bytes(most_state_bytes);
  std::byte* at = bytes.data();
  put(at, magic);
  put(at, state.process);
  for (const Offered& offer : state.offers) {
    assert(offer.type.size() <= longest_type);
    put(at, offer.stream);
    put(at, static_cast<std::uint8_t>((offer.reliable ? reliable_flag : 0) |
                                      (offer.transient_local ? transient_local_flag : 0)));
    put(at, static_cast<std::uint8_t>(offer.type.size()));
    for (const char c : offer.type) put(at, static_cast<std::uint8_t>(c));
  }
  bytes.resize(static_cast<std::size_t>(at - bytes.data()));
  return bytes;
}

std::optional<State> read_state(std::span<const std::byte> bytes) {
  Input input(bytes);
  State state;
  if (input.get<std::uint32_t>() != magic) return std::nullopt;
  state.process = input.get<std::uint64_t>();
  while (!input.failed() && !input.at_end() && state.offers.size() < most_offers) {
    Offered& offer = state.offers.emplace_back();
    offer.stream = input.get<std::uint32_t>();
    const auto flags = input.get<std::uint8_t>();
    offer.reliable = (flags & reliable_flag) != 0;
    offer.transient_local = (flags & transient_local_flag) != 0;
    for (const std::byte c : input.get_bytes(input.get<std::uint8_t>())) {
      offer.type += static_cast<char>(c);
    }
  }
  if (input.failed() || !input.at_end() || state.process == 0) return std::nullopt;
  return state;
}

}  // namespace takt::bridge
