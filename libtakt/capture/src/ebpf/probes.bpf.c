// The probes that run in the kernel: calls of tracing functions and of the middleware's, and the
// scheduler's events.

// libbpf's headers need the kernel's before them.
// clang-format off
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
// clang-format on

#include "record.h"

char LICENSE[] SEC("license") = "GPL";

// The parts of the kernel's structures that are read; where they lie is found when the program is
// loaded.
struct thread_info {
  unsigned int cpu;
} __attribute__((preserve_access_index));
struct ns_common {
  unsigned int inum;
} __attribute__((preserve_access_index));
struct pid_namespace {
  struct ns_common ns;
} __attribute__((preserve_access_index));
struct upid {
  int nr;
  struct pid_namespace* ns;
} __attribute__((preserve_access_index));
struct pid {
  unsigned int level;
  struct upid numbers[1];
} __attribute__((preserve_access_index));
struct task_struct {
  struct thread_info thread_info;
  unsigned int __state;
  int pid;
  int tgid;
  int prio;
  char comm[16];
  struct task_struct* group_leader;
  struct pid* thread_pid;
  unsigned long long start_boottime;
} __attribute__((preserve_access_index));

// The states that tools know; the kernel has flags beyond them (TASK_REPORT in linux/sched.h).
enum { REPORTED_STATES = 0x7f };

// The offset of the writer in a message of Fast DDS (2.14 and 3.2), and the bits of the writers
// that belong to the discovery itself (DDSI-RTPS 9.3.1.2).
enum { DDS_WRITER = 12, GID_SIZE = 16, DDS_BUILT_IN = 0xc0 };

// Set by the recorder before the programs are loaded. `follows`: the table of processes is in use.
const volatile bool follows = false;
const volatile bool only_started = false;
const volatile bool calls = true;
const volatile bool clocks_run = false;  // the threads that make calls have clocks
// The recorder's namespace of processes, by whose numbers it knows them; 0: the outermost.
const volatile unsigned int name_space = 0;
// A namespace has this many around it at most (MAX_PID_NS_LEVEL is 32, which nobody needs).
enum { NAME_SPACES = 8 };

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, unsigned int);  // process
  __type(value, struct takt_process);
} processes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, TAKT_BPF_EVENTS);
  __type(key, unsigned int);
  __type(value, struct takt_recipe);
} recipes SEC(".maps");

// One buffer for each kind of probe. A reservation fails when the buffer is full, or when a probe
// interrupts another one that is just reserving on the same processor. Neither kind can interrupt
// itself.
struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, TAKT_BPF_BUFFER_SIZE);
} call_records SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, TAKT_BPF_BUFFER_SIZE);
} sched_records SEC(".maps");

// The processor time of a thread. It has one from its next call on if it has none.
struct thread_clock {
  unsigned long long since;  // when it got its processor; 0: it has none
  unsigned long long total;
  unsigned long long waits;
};

// Clocks begin so far ahead, less the time at which they are made: one that was made anew is behind
// the one before, so that nobody takes what lies between for processor time.
enum { CLOCKS_AHEAD_SHIFT = 61 };

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, int);  // the kernel's number of the thread
  __type(value, struct thread_clock);
} clocks SEC(".maps");

struct takt_dropped dropped = {};

// A thread's number as the recorder knows it; 0: it is outside of the recorder's namespace.
static __always_inline unsigned int number_of(const struct task_struct* task) {
  if (name_space == 0) return BPF_CORE_READ(task, pid);
  const struct pid* pid = BPF_CORE_READ(task, thread_pid);
  const unsigned int level = BPF_CORE_READ(pid, level);
  const char* const numbers = (const char*)pid + bpf_core_field_offset(struct pid, numbers);
  for (unsigned int i = 1; i <= NAME_SPACES && i <= level; ++i) {
    const struct upid* number = (const struct upid*)(numbers + i * bpf_core_type_size(struct upid));
    if (BPF_CORE_READ(number, ns, ns.inum) == name_space) return BPF_CORE_READ(number, nr);
  }
  return 0;
}

static __always_inline unsigned int process_of(const struct task_struct* task) {
  return name_space == 0 ? BPF_CORE_READ(task, tgid) : number_of(BPF_CORE_READ(task, group_leader));
}

static __always_inline unsigned int start_of(const struct task_struct* task) {
  return BPF_CORE_READ(task, group_leader, start_boottime) / 10000000;
}

static __always_inline const struct takt_process* known(unsigned int process, unsigned int start) {
  const struct takt_process* entry = bpf_map_lookup_elem(&processes, &process);
  return entry && entry->start == start ? entry : 0;
}

static __always_inline bool is_traced(const struct task_struct* task) {
  const unsigned int process = process_of(task);
  const struct takt_process* entry = bpf_map_lookup_elem(&processes, &process);
  return process && entry && entry->role == TAKT_TRACED && entry->start == start_of(task);
}

// False: there are too many processes.
static __always_inline bool trace_process(unsigned int process, unsigned int start) {
  const struct takt_process traced = {TAKT_TRACED, start};
  return bpf_map_update_elem(&processes, &process, &traced, BPF_ANY) == 0;
}

static __always_inline unsigned long long argument(struct pt_regs* ctx, int position) {
  switch (position) {
    case 0:
      return PT_REGS_PARM1(ctx);
    case 1:
      return PT_REGS_PARM2(ctx);
    case 2:
      return PT_REGS_PARM3(ctx);
    case 3:
      return PT_REGS_PARM4(ctx);
    case 4:
      return PT_REGS_PARM5(ctx);
    case 5:
      return ctx->r9;
  }
  unsigned long long value = 0;  // the first on the stack is above the return address
  bpf_probe_read_user(&value, sizeof value,
                      (const void*)(PT_REGS_SP(ctx) + 8 * (unsigned long)(position - 5)));
  return value;
}

// The circumstances of a call, which every record of a call holds.
struct circumstances {
  unsigned long long time;
  unsigned long long cookie;
  unsigned int process;
  unsigned int thread;
  unsigned int start;
};

// False: the calling process is not to be recorded.
static __always_inline bool look_around(struct pt_regs* ctx, struct circumstances* here) {
  here->time = bpf_ktime_get_ns();
  here->cookie = bpf_get_attach_cookie(ctx);
  const struct task_struct* task = (const struct task_struct*)bpf_get_current_task();
  here->start = start_of(task);
  here->process = process_of(task);
  here->thread = number_of(task);
  if (!here->process) return false;
  if (!follows) return calls;
  const struct takt_process* entry = known(here->process, here->start);
  if (entry && entry->role == TAKT_TRACED) return calls;
  if (only_started) return false;
  if (!trace_process(here->process, here->start)) {
    __sync_fetch_and_add(calls ? &dropped.calls : &dropped.processes, 1);
    return false;
  }
  return calls;
}

// A call that no clock could be made for has no time.
static __always_inline void read_clock(struct takt_call* call) {
  call->cpu_time = 0;
  call->waits = 0;
  if (!clocks_run) return;
  const struct task_struct* task = (const struct task_struct*)bpf_get_current_task();
  const int thread = BPF_CORE_READ(task, pid);
  const struct thread_clock* clock = bpf_map_lookup_elem(&clocks, &thread);
  if (!clock) {
    const struct thread_clock made = {call->time, (1ULL << CLOCKS_AHEAD_SHIFT) - call->time, 1};
    call->cpu_time = made.total;
    call->waits = bpf_map_update_elem(&clocks, &thread, &made, BPF_NOEXIST) == 0;
    return;
  }
  const unsigned long long since = clock->since;
  call->cpu_time = clock->total + (since && since < call->time ? call->time - since : 0);
  call->waits = clock->waits;
}

static __always_inline void describe(struct takt_call* call, const struct circumstances* here,
                                     unsigned int text_room) {
  call->kind = TAKT_RECORD_CALL;
  call->process = here->process;
  call->start = here->start;
  call->thread = here->thread;
  call->event = here->cookie & 0xff;
  call->gid_size = (here->cookie >> 8) & 0xff;
  call->library = (here->cookie >> 16) & 0xff;
  call->text_room = text_room;
  call->time = here->time;
  bpf_get_current_comm(call->name, sizeof call->name);
  read_clock(call);
}

// Copies what the arguments point to. False: a text has no room.
static __always_inline bool keep(struct takt_call* call, char* texts, unsigned long long room,
                                 const struct takt_recipe* recipe, struct pt_regs* ctx) {
  unsigned int text = 0;
  bool whole = true;
#pragma unroll
  for (int i = 0; i < TAKT_BPF_ARGUMENTS; ++i) {
    const unsigned char what = recipe->arguments[i];
    call->arguments[i] = i < 6 || what != TAKT_ARGUMENT_NONE ? argument(ctx, i) : 0;
    if (what < TAKT_ARGUMENT_STRING || text >= TAKT_BPF_TEXTS) continue;
    char* target = texts + text * room;
    const void* source = (const void*)call->arguments[i];
    target[0] = 0;
    if (what == TAKT_ARGUMENT_STRING) {
      if (bpf_probe_read_user_str(target, room, source) == (long)room) {
        char last = 0;  // the text's end, if it just fits
        bpf_probe_read_user(&last, 1, (const char*)source + room - 1);
        whole = whole && last == 0;
      }
    } else if (what == TAKT_ARGUMENT_GID) {
      bpf_probe_read_user(target, GID_SIZE, source);
    } else if (i + 1 < TAKT_BPF_ARGUMENTS) {
      const unsigned long long count = argument(ctx, i + 1);
      unsigned long long size = count * 8;
      if (count > room / 8) {
        whole = false;
        size = 0;
      }
      if (size <= room) bpf_probe_read_user(target, size, source);
    }
    ++text;
  }
  return whole;
}

// At the entry of a tracing function.
SEC("uprobe")
int on_call(struct pt_regs* ctx) {
  struct circumstances here;
  if (!look_around(ctx, &here)) return 0;
  const unsigned int event = here.cookie & 0xff;
  const struct takt_recipe* recipe = bpf_map_lookup_elem(&recipes, &event);
  if (!recipe) return 0;

  if (recipe->texts == 0) {
    struct takt_call* call = bpf_ringbuf_reserve(&call_records, sizeof *call, 0);
    if (!call) {
      __sync_fetch_and_add(&dropped.calls, 1);
      return 0;
    }
    describe(call, &here, 0);
#pragma unroll
    for (int i = 0; i < TAKT_BPF_ARGUMENTS; ++i) {
      call->arguments[i] = i < 6 ? argument(ctx, i) : 0;
    }
    bpf_ringbuf_submit(call, BPF_RB_NO_WAKEUP);
    return 0;
  }

  struct {
    struct takt_call call;
    char texts[TAKT_BPF_TEXTS * TAKT_BPF_TEXT_SIZE];
  }* common = bpf_ringbuf_reserve(&call_records, sizeof *common, 0);
  if (!common) {
    __sync_fetch_and_add(&dropped.calls, 1);
    return 0;
  }
  describe(&common->call, &here, TAKT_BPF_TEXT_SIZE);
  if (keep(&common->call, common->texts, TAKT_BPF_TEXT_SIZE, recipe, ctx)) {
    bpf_ringbuf_submit(common, BPF_RB_NO_WAKEUP);
    return 0;
  }
  bpf_ringbuf_discard(common, BPF_RB_NO_WAKEUP);

  struct {
    struct takt_call call;
    char texts[TAKT_BPF_TEXTS * TAKT_BPF_LONG_TEXT_SIZE];
  }* large = bpf_ringbuf_reserve(&call_records, sizeof *large, 0);
  if (!large) {
    __sync_fetch_and_add(&dropped.calls, 1);
    return 0;
  }
  describe(&large->call, &here, TAKT_BPF_LONG_TEXT_SIZE);
  if (keep(&large->call, large->texts, TAKT_BPF_LONG_TEXT_SIZE, recipe, ctx)) {
    bpf_ringbuf_submit(large, BPF_RB_NO_WAKEUP);
  } else {
    bpf_ringbuf_discard(large, BPF_RB_NO_WAKEUP);
    __sync_fetch_and_add(&dropped.calls, 1);
  }
  return 0;
}

// Seconds, binary fraction and nanoseconds: Time_t of Fast DDS's RTPS layer.
struct dds_time {
  int seconds;
  unsigned int fraction;
  unsigned int nanoseconds;
};

// At the entry of a function of Fast DDS whose second argument is a message. The message is handed
// to the transports, or can be taken from now on.
SEC("uprobe")
int on_message(struct pt_regs* ctx) {
  const char* message = (const char*)PT_REGS_PARM2(ctx);
  unsigned char kind = 0;
  bpf_probe_read_user(&kind, 1, message + DDS_WRITER + GID_SIZE - 1);
  if ((kind & DDS_BUILT_IN) == DDS_BUILT_IN) return 0;

  struct circumstances here;
  if (!look_around(ctx, &here)) return 0;
  struct {
    struct takt_call call;
    char gid[GID_SIZE];
  }* record = bpf_ringbuf_reserve(&call_records, sizeof *record, 0);
  if (!record) {
    __sync_fetch_and_add(&dropped.calls, 1);
    return 0;
  }
  describe(&record->call, &here, GID_SIZE);
  __builtin_memset(record->call.arguments, 0, sizeof record->call.arguments);
  struct dds_time time = {};
  bpf_probe_read_user(&time, sizeof time, message + ((here.cookie >> 16) & 0xff));
  bpf_probe_read_user(record->gid, GID_SIZE, message + DDS_WRITER);
  record->call.arguments[0] = 1;  // the gid is there
  record->call.arguments[1] = time.seconds * 1000000000ll + time.nanoseconds;
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
  return 0;
}

static __always_inline void describe_task(struct takt_task* record,
                                          const struct task_struct* task) {
  const int thread = number_of(task);
  record->thread = thread ? thread : -BPF_CORE_READ(task, pid);
  record->process = process_of(task);
  record->priority = BPF_CORE_READ(task, prio);
  bpf_core_read_str(record->name, sizeof record->name, &task->comm);
}

static __always_inline void report(unsigned int event, const struct task_struct* first,
                                   const struct task_struct* second, long long state,
                                   int target_cpu, unsigned int traced, unsigned long long place) {
  struct takt_sched* sched = bpf_ringbuf_reserve(&sched_records, sizeof *sched, 0);
  if (!sched) {
    __sync_fetch_and_add(&dropped.sched, 1);
    return;
  }
  __builtin_memset(sched, 0, sizeof *sched);
  sched->kind = TAKT_RECORD_SCHED;
  sched->event = event;
  sched->cpu = bpf_get_smp_processor_id();
  sched->target_cpu = target_cpu;
  sched->time = bpf_ktime_get_ns();
  sched->state = state;
  sched->place = place;
  sched->first_traced = traced & 1;
  sched->second_traced = traced >> 1;
  describe_task(&sched->first, first);
  if (second) describe_task(&sched->second, second);
  bpf_ringbuf_submit(sched, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct* previous, struct task_struct* next) {
  const unsigned int traced = is_traced(previous) | is_traced(next) << 1;
  if (traced) {
    // A preempted thread is ready to run whatever it was about to wait for.
    report(TAKT_SCHED_SWITCH, previous, next,
           preempt ? 0 : BPF_CORE_READ(previous, __state) & REPORTED_STATES, 0, traced, 0);
  }
  return 0;
}

// Some switches are not seen. A clock that missed one does not know how long its thread ran: it is
// given up.
SEC("tp_btf/sched_switch")
int BPF_PROG(on_turn, bool preempt, struct task_struct* previous, struct task_struct* next) {
  const unsigned long long now = bpf_ktime_get_ns();
  const int from = BPF_CORE_READ(previous, pid);
  struct thread_clock* clock = bpf_map_lookup_elem(&clocks, &from);
  if (clock && !clock->since) {
    bpf_map_delete_elem(&clocks, &from);
  } else if (clock) {
    clock->total += now - clock->since;
    clock->since = 0;
    if (!preempt && (BPF_CORE_READ(previous, __state) & REPORTED_STATES) != 0) ++clock->waits;
  }
  const int to = BPF_CORE_READ(next, pid);
  clock = bpf_map_lookup_elem(&clocks, &to);
  if (clock && clock->since) {
    bpf_map_delete_elem(&clocks, &to);
  } else if (clock) {
    clock->since = now;
  }
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_thread_end, struct task_struct* task) {
  const int thread = BPF_CORE_READ(task, pid);
  bpf_map_delete_elem(&clocks, &thread);
  return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct* task) {
  if (is_traced(task))
    report(TAKT_SCHED_WAKEUP, task, 0, 0, BPF_CORE_READ(task, thread_info.cpu), 1, 0);
  return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct* task) {
  if (is_traced(task)) {
    report(TAKT_SCHED_WAKEUP_NEW, task, 0, 0, BPF_CORE_READ(task, thread_info.cpu), 1, 0);
  }
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child) {
  const unsigned int parent_process = process_of(parent);
  const unsigned int child_process = process_of(child);
  const struct takt_process* entry = known(parent_process, start_of(parent));
  if (!entry) return 0;
  if (child_process != parent_process && !trace_process(child_process, start_of(child))) {
    __sync_fetch_and_add(&dropped.processes, 1);
  }
  if (entry->role == TAKT_TRACED) report(TAKT_SCHED_FORK, parent, child, 0, 0, 1, 0);
  return 0;
}

// When nothing happens in a process any more: its first thread goes last, and after its last
// switch.
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct* task) {
  const unsigned int process = process_of(task);
  if (number_of(task) == process && known(process, start_of(task))) {
    bpf_map_delete_elem(&processes, &process);
  }
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct* task) {
  if (is_traced(task)) report(TAKT_SCHED_EXIT, task, 0, 0, 0, 1, 0);
  return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_page_fault, unsigned long address, struct pt_regs* registers) {
  const struct task_struct* task = (const struct task_struct*)bpf_get_current_task();
  if (!is_traced(task)) return 0;
  unsigned long place = 0;
  bpf_probe_read_kernel(&place, sizeof place, &PT_REGS_IP(registers));
  report(TAKT_SCHED_PAGE_FAULT, task, 0, (long long)address, 0, 1, place);
  return 0;
}
