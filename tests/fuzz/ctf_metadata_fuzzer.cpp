#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "ctf_metadata.hpp"
#include "ctf_plan.hpp"

/// Metadata of any bytes is understood or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace takt::events::ctf;
  const auto text = metadata_text({reinterpret_cast<const char*>(data), size});
  if (text) {
    if (auto metadata = parse_metadata(*text)) {
      (void)plan_decoding(std::move(*metadata));
    }
  }
  return 0;
}
