/*
 * Executes a list of system calls and becomes the command that the last one starts.
 *
 * The list comes from call-list.ts, on descriptor 3, and decides everything; this program decides nothing. It needs no
 * library, so that it is the same few hundred bytes everywhere, and holds no memory of acode's. The first call that
 * fails ends it with code 125 and the failure on the status descriptor: what follows never runs, the command least of
 * all. launcher-bytes.ts holds what the compiler makes of it, and a test makes it again.
 */
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;

enum { list_descriptor = 3, refused = 125 };
enum { kind_call, kind_await, kind_exit };
/* Where the list is mapped, so that the addresses in it are what they say. */
#define BASE 0x10000000UL

struct head {
  u32 magic, status, count, calls;
};

struct call {
  u32 number;
  /* A bit for each argument that is the address of the number to pass. */
  u16 loads;
  u16 kind;
  /* The error that counts as success: 0 for none, -1 for any. */
  int accepted;
  /* Results below are failures too: an end of file is. */
  int least;
  /* Where the result goes, 0 for nowhere. */
  u64 store;
  /* Where a positive result continues, 0 for behind this call: the parent of a fork. */
  u64 jump;
  u64 arguments[6];
};

#ifdef __x86_64__
enum { nr_write = 1, nr_lseek = 8, nr_mmap = 9, nr_wait4 = 61, nr_exit = 231 };

static long system(u64 n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
  long result;
  register u64 r10 __asm__("r10") = d;
  register u64 r8 __asm__("r8") = e;
  register u64 r9 __asm__("r9") = f;
  __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#else
enum { nr_write = 64, nr_lseek = 62, nr_mmap = 222, nr_wait4 = 260, nr_exit = 94 };

static long system(u64 n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
  register u64 x8 __asm__("x8") = n;
  register u64 x0 __asm__("x0") = a;
  register u64 x1 __asm__("x1") = b;
  register u64 x2 __asm__("x2") = c;
  register u64 x3 __asm__("x3") = d;
  register u64 x4 __asm__("x4") = e;
  register u64 x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return (long)x0;
}
#endif

static void leave(u64 code) {
  for (;;) system(nr_exit, code, 0, 0, 0, 0, 0);
}

static u64 argument(const struct call *call, int index) {
  u64 value = call->arguments[index];
  return call->loads & (1 << index) ? (u64)(long)*(int *)value : value;
}

/* Waits for every child until the one that is meant has ended. */
static long await(const struct call *call) {
  for (;;) {
    long pid = system(nr_wait4, (u64)-1, argument(call, 1), 0, argument(call, 2), 0, 0);
    if (pid < 0 || pid == (long)argument(call, 0)) return pid;
  }
}

static long perform(const struct call *call) {
  if (call->kind == kind_await) return await(call);
  if (call->kind == kind_exit) {
    int status = argument(call, 0);
    leave((status & 0x7f) == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f));
  }
  return system(call->number, argument(call, 0), argument(call, 1), argument(call, 2), argument(call, 3),
                argument(call, 4), argument(call, 5));
}

#ifdef __x86_64__
__attribute__((force_align_arg_pointer))
#endif
void _start(void) {
  long size = system(nr_lseek, list_descriptor, 0, 2, 0, 0, 0);
  /* Readable, writable, its own copy, at this address and over nothing else. */
  if (size < 0 || system(nr_mmap, BASE, size, 3, 0x100002, list_descriptor, 0) != (long)BASE) leave(refused);
  const struct head *head = (const struct head *)BASE;
  const struct call *calls = (const struct call *)(BASE + head->calls);
  if (head->magic != 0x31434c41) leave(refused);
  for (u32 index = 0; index < head->count; index++) {
    const struct call *call = &calls[index];
    long result = perform(call);
    if (result < 0 && (call->accepted == -1 || -result == call->accepted)) result = 0;
    else if (result < call->least) {
      int failure[4] = {2, index, result < 0 ? -result : 0, 0};
      system(nr_write, head->status, (u64)failure, sizeof failure, 0, 0, 0);
      break;
    }
    if (call->store) *(int *)call->store = result;
    if (result > 0 && call->jump) index = call->jump - 1;
  }
  leave(refused);
}
