#include "held_selection.hpp"

#include "takt/capture/ring/selection_text.hpp"

namespace takt::capture::ring {

std::optional<HeldSelection> HeldSelection::put(int memory, std::string_view text) {
  auto mapping = Mapping::of(memory);
  auto lock = mapping ? lock_ring(memory) : Descriptor();
  if (!lock) return std::nullopt;
  put_selection(*mapping->ring(), text);
  return HeldSelection(std::move(*mapping), std::move(lock));
}

HeldSelection::~HeldSelection() {
  if (lock_) put_selection(*mapping_.ring(), {});
}

}  // namespace takt::capture::ring
