#include "verbs/verbs_queue_pair.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sodium.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace takt::transport {

namespace {

/// Room for requests to write. An end posts two for each chunk that it sends and one for each that
/// it answers, and they end before long. A peer that takes nothing fills the queue.
constexpr std::uint32_t most_writes = 64;
/// At most two words are under way.
constexpr std::uint32_t most_words = 16;
constexpr std::uint32_t packet_numbers = 1U << 24;
/// The number of requests for words, which tells their completions from those of writes.
constexpr std::uint64_t received = 0;

}  // namespace

VerbsQueuePair::VerbsQueuePair(const VerbsDevice::Route& route, std::span<std::byte> theirs)
    : route_(route),
      address_(reinterpret_cast<std::uintptr_t>(theirs.data())),
      first_packet_(randombytes_uniform(packet_numbers)) {}

Result<std::unique_ptr<QueuePair>> VerbsQueuePair::make(ibv_pd* domain,
                                                        const VerbsDevice::Route& route,
                                                        std::span<std::byte> mine,
                                                        std::span<std::byte> theirs) {
  std::unique_ptr<VerbsQueuePair> made(new VerbsQueuePair(route, theirs));
  if (!made->allocate(domain, mine, theirs)) {
    return error("{}: a queue pair with {} bytes of memory: {}{}",
                 ibv_get_device_name(domain->context->device), mine.size() + theirs.size(),
                 std::strerror(errno), errno == ENOMEM ? " (see `ulimit -l`)" : "");
  }
  return made;
}

bool VerbsQueuePair::allocate(ibv_pd* domain, std::span<std::byte> mine,
                              std::span<std::byte> theirs) {
  channel_.reset(ibv_create_comp_channel(domain->context));
  if (!channel_ || fcntl(channel_->fd, F_SETFL, O_NONBLOCK) != 0) return false;
  completions_.reset(
      ibv_create_cq(domain->context, most_writes + most_words, nullptr, channel_.get(), 0));
  if (!completions_) return false;
  mine_.reset(ibv_reg_mr(domain, mine.data(), mine.size(), 0));
  if (!mine_) return false;
  theirs_.reset(ibv_reg_mr(domain, theirs.data(), theirs.size(),
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
  if (!theirs_) return false;
  auto wanted = zeros<ibv_qp_init_attr>();
  wanted.send_cq = completions_.get();
  wanted.recv_cq = completions_.get();
  wanted.cap.max_send_wr = most_writes;
  wanted.cap.max_recv_wr = most_words;
  wanted.cap.max_send_sge = 1;
  wanted.cap.max_recv_sge = 1;
  wanted.qp_type = IBV_QPT_RC;
  pair_.reset(ibv_create_qp(domain, &wanted));
  if (!pair_) return false;
  auto initial = zeros<ibv_qp_attr>();
  initial.qp_state = IBV_QPS_INIT;
  initial.port_num = route_.port;
  initial.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  errno = ibv_modify_qp(pair_.get(), &initial,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (errno != 0) return false;
  for (std::uint32_t i = 0; i < most_words; ++i) {
    if (!post_receive()) return false;
  }
  return true;
}

wire::Memory VerbsQueuePair::description() const {
  return {.mtu = static_cast<std::uint8_t>(route_.mtu),
          .queue_pair = pair_->qp_num,
          .packet = first_packet_,
          .key = theirs_->rkey,
          .address = address_};
}

bool VerbsQueuePair::connect(const wire::Memory& peer) {
  if (peer.mtu < IBV_MTU_256 || peer.mtu > IBV_MTU_4096) return false;
  peer_ = peer;
  auto receiving = zeros<ibv_qp_attr>();
  receiving.qp_state = IBV_QPS_RTR;
  receiving.path_mtu = std::min(route_.mtu, static_cast<ibv_mtu>(peer.mtu));
  receiving.dest_qp_num = peer.queue_pair;
  receiving.rq_psn = peer.packet;
  receiving.max_dest_rd_atomic = 1;
  // A peer whose word finds no request may try again after 0.64 ms.
  receiving.min_rnr_timer = 12;
  receiving.ah_attr.is_global = 1;
  receiving.ah_attr.grh.dgid = route_.peer;
  receiving.ah_attr.grh.sgid_index = route_.gid_index;
  receiving.ah_attr.grh.hop_limit = 64;
  receiving.ah_attr.port_num = route_.port;
  if (ibv_modify_qp(pair_.get(), &receiving,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0) {
    return false;
  }
  auto sending = zeros<ibv_qp_attr>();
  sending.qp_state = IBV_QPS_RTS;
  sending.sq_psn = first_packet_;
  sending.timeout = route_.timeout;
  sending.retry_cnt = 7;
  // A peer has always posted enough requests.
  sending.rnr_retry = 6;
  sending.max_rd_atomic = 1;
  return ibv_modify_qp(pair_.get(), &sending,
                       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                           IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC) == 0;
}

bool VerbsQueuePair::write(std::size_t offset, std::size_t bytes,
                           std::optional<std::uint32_t> word) {
  if (posted_ - ended_ >= most_writes) return false;
  ibv_sge part{.addr = reinterpret_cast<std::uintptr_t>(mine_->addr) + offset,
               .length = static_cast<std::uint32_t>(bytes),
               .lkey = mine_->lkey};
  auto request = zeros<ibv_send_wr>();
  request.wr_id = ++posted_;
  request.sg_list = &part;
  request.num_sge = 1;
  request.opcode = word ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  // Words wake the peer; the completion of a write wakes nobody.
  request.send_flags = word ? IBV_SEND_SIGNALED | IBV_SEND_SOLICITED : 0;
  request.imm_data = htonl(word.value_or(0));
  request.wr.rdma.remote_addr = peer_.address + offset;
  request.wr.rdma.rkey = peer_.key;
  ibv_send_wr* refused = nullptr;
  return ibv_post_send(pair_.get(), &request, &refused) == 0;
}

bool VerbsQueuePair::post_receive() {
  auto request = zeros<ibv_recv_wr>();
  request.wr_id = received;
  ibv_recv_wr* refused = nullptr;
  errno = ibv_post_recv(pair_.get(), &request, &refused);
  return errno == 0;
}

bool VerbsQueuePair::take_notifications() {
  ibv_cq* from = nullptr;
  void* ignored = nullptr;
  bool any = false;
  while (ibv_get_cq_event(channel_.get(), &from, &ignored) == 0) {
    ibv_ack_cq_events(from, 1);
    any = true;
  }
  return any;
}

std::optional<std::uint32_t> VerbsQueuePair::next() {
  while (!broken_) {
    auto completion = zeros<ibv_wc>();
    const int count = ibv_poll_cq(completions_.get(), 1, &completion);
    if (count == 0 && told_ && !take_notifications()) return std::nullopt;
    if (count == 0) {
      // Completions from now on are told. Those that came before are looked for once more.
      take_notifications();
      told_ = ibv_req_notify_cq(completions_.get(), 1) == 0;
      broken_ = !told_;
      continue;
    }
    told_ = false;
    const bool is_word = completion.wr_id == received;
    if (count < 0 || completion.status != IBV_WC_SUCCESS ||
        (is_word && completion.opcode != IBV_WC_RECV_RDMA_WITH_IMM)) {
      broken_ = true;
    } else if (is_word) {
      broken_ = !post_receive();
      return ntohl(completion.imm_data);
    } else {
      ended_ = completion.wr_id;
    }
  }
  return std::nullopt;
}

}  // namespace takt::transport
