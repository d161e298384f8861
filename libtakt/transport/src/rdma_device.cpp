#include "queue_pair.hpp"

#ifdef TAKT_WITH_VERBS
#include "verbs/verbs_device.hpp"
#endif

namespace takt::transport {

Result<std::unique_ptr<RdmaDevice>> open_rdma_device([[maybe_unused]] const SocketAddress& local,
                                                     [[maybe_unused]] const SocketAddress& remote,
                                                     [[maybe_unused]] Duration silence) {
#ifdef TAKT_WITH_VERBS
  return VerbsDevice::open(local, remote, silence);
#else
  return error("Takt was built without libibverbs, which RDMA needs");
#endif
}

}  // namespace takt::transport
