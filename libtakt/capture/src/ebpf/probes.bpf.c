// The probes that run in the kernel: calls of tracing functions, and the scheduler's events.

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
struct task_struct {
  struct thread_info thread_info;
  unsigned int __state;
  int pid;
  int tgid;
  int prio;
  char comm[16];
} __attribute__((preserve_access_index));

// The states that tools know; the kernel has flags beyond them (TASK_REPORT in linux/sched.h).
enum { REPORTED_STATES = 0x7f };

// Set by the recorder before the programs are loaded.
const volatile bool only_started = false;

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, unsigned int);  // process
  __type(value, unsigned char);
} processes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, TAKT_BPF_EVENTS);
  __type(key, unsigned int);
  __type(value, struct takt_recipe);
} recipes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 16 * 1024 * 1024);
} records SEC(".maps");

unsigned long long dropped = 0;

static __always_inline bool is_traced(unsigned int process) {
  const unsigned char* known = bpf_map_lookup_elem(&processes, &process);
  return known && *known == TAKT_TRACED;
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

static __always_inline void describe(struct takt_call* call, struct pt_regs* ctx,
                                     unsigned long long cookie, unsigned long long time) {
  const unsigned long long id = bpf_get_current_pid_tgid();
  call->kind = TAKT_RECORD_CALL;
  call->process = id >> 32;
  call->thread = (unsigned int)id;
  call->event = cookie & 0xff;
  call->gid_size = (cookie >> 8) & 0xff;
  call->time = time;
  bpf_get_current_comm(call->name, sizeof call->name);
#pragma unroll
  for (int i = 0; i < TAKT_BPF_ARGUMENTS; ++i) {
    call->arguments[i] = i < 6 ? argument(ctx, i) : 0;
  }
}

// At the entry of a tracing function. The cookie says which: event and size of a gid.
SEC("uprobe")
int on_call(struct pt_regs* ctx) {
  const unsigned long long time = bpf_ktime_get_ns();
  const unsigned int process = bpf_get_current_pid_tgid() >> 32;
  if (only_started) {
    if (!is_traced(process)) return 0;
  } else if (!is_traced(process)) {
    const unsigned char traced = TAKT_TRACED;
    bpf_map_update_elem(&processes, &process, &traced, BPF_ANY);
  }
  const unsigned long long cookie = bpf_get_attach_cookie(ctx);
  const unsigned int event = cookie & 0xff;
  const struct takt_recipe* recipe = bpf_map_lookup_elem(&recipes, &event);
  if (!recipe) return 0;

  if (recipe->texts == 0) {
    struct takt_call* call = bpf_ringbuf_reserve(&records, sizeof *call, 0);
    if (!call) {
      __sync_fetch_and_add(&dropped, 1);
      return 0;
    }
    describe(call, ctx, cookie, time);
    bpf_ringbuf_submit(call, BPF_RB_NO_WAKEUP);
    return 0;
  }

  struct {
    struct takt_call call;
    char texts[TAKT_BPF_TEXTS][TAKT_BPF_TEXT_SIZE];
  }* full = bpf_ringbuf_reserve(&records, sizeof *full, 0);
  if (!full) {
    __sync_fetch_and_add(&dropped, 1);
    return 0;
  }
  describe(&full->call, ctx, cookie, time);
  unsigned int text = 0;
#pragma unroll
  for (int i = 0; i < TAKT_BPF_ARGUMENTS; ++i) {
    const unsigned char what = recipe->arguments[i];
    if (i >= 6 && what != TAKT_ARGUMENT_NONE) full->call.arguments[i] = argument(ctx, i);
    if (what >= TAKT_ARGUMENT_STRING && text < TAKT_BPF_TEXTS) {
      char* target = full->texts[text];
      const void* source = (const void*)full->call.arguments[i];
      target[0] = 0;
      if (what == TAKT_ARGUMENT_STRING) {
        bpf_probe_read_user_str(target, TAKT_BPF_TEXT_SIZE, source);
      } else if (what == TAKT_ARGUMENT_GID) {
        bpf_probe_read_user(target, 16, source);
      } else if (i + 1 < TAKT_BPF_ARGUMENTS) {
        unsigned long long size = full->call.arguments[i + 1] * 8;
        if (size > TAKT_BPF_TEXT_SIZE) size = TAKT_BPF_TEXT_SIZE;
        bpf_probe_read_user(target, size, source);
      }
      ++text;
    }
  }
  bpf_ringbuf_submit(full, BPF_RB_NO_WAKEUP);
  return 0;
}

static __always_inline void describe_task(struct takt_task* record,
                                          const struct task_struct* task) {
  record->thread = BPF_CORE_READ(task, pid);
  record->process = BPF_CORE_READ(task, tgid);
  record->priority = BPF_CORE_READ(task, prio);
  bpf_core_read_str(record->name, sizeof record->name, &task->comm);
}

static __always_inline void report(unsigned int event, const struct task_struct* first,
                                   const struct task_struct* second, long long state,
                                   int target_cpu) {
  struct takt_sched* sched = bpf_ringbuf_reserve(&records, sizeof *sched, 0);
  if (!sched) {
    __sync_fetch_and_add(&dropped, 1);
    return;
  }
  __builtin_memset(sched, 0, sizeof *sched);
  sched->kind = TAKT_RECORD_SCHED;
  sched->event = event;
  sched->cpu = bpf_get_smp_processor_id();
  sched->target_cpu = target_cpu;
  sched->time = bpf_ktime_get_ns();
  sched->state = state;
  describe_task(&sched->first, first);
  if (second) describe_task(&sched->second, second);
  bpf_ringbuf_submit(sched, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct* previous, struct task_struct* next) {
  if (is_traced(BPF_CORE_READ(previous, tgid)) || is_traced(BPF_CORE_READ(next, tgid))) {
    // A preempted thread is ready to run whatever it was about to wait for.
    report(TAKT_SCHED_SWITCH, previous, next,
           preempt ? 0 : BPF_CORE_READ(previous, __state) & REPORTED_STATES, 0);
  }
  return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct* task) {
  if (is_traced(BPF_CORE_READ(task, tgid))) {
    report(TAKT_SCHED_WAKEUP, task, 0, 0, BPF_CORE_READ(task, thread_info.cpu));
  }
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child) {
  const unsigned int parent_process = BPF_CORE_READ(parent, tgid);
  const unsigned int child_process = BPF_CORE_READ(child, tgid);
  const unsigned char* known = bpf_map_lookup_elem(&processes, &parent_process);
  if (!known) return 0;
  if (child_process != parent_process) {
    const unsigned char traced = TAKT_TRACED;
    bpf_map_update_elem(&processes, &child_process, &traced, BPF_ANY);
  }
  if (*known == TAKT_TRACED) report(TAKT_SCHED_FORK, parent, child, 0, 0);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct* task) {
  const unsigned int process = BPF_CORE_READ(task, tgid);
  if (is_traced(process)) report(TAKT_SCHED_EXIT, task, 0, 0, 0);
  return 0;
}
