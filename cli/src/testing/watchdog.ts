import { readdirSync, readFileSync } from 'node:fs'
import { after } from 'node:test'

/** How long a file may take; see `--test-timeout` for a single test of it. */
const fileLimitMs = 12 * 60_000
/** How long its process may go on once the last test is through. */
const graceMs = Number(process.env.ROOST_TEST_GRACE_MS ?? 30_000)

// Loaded into every process of Node's runner: a test that ran out of time leaves its servers and programs
// behind, and the runner would wait for them for ever. Such a file ends here, failed, with what is left of it.
if (process.env.NODE_TEST_CONTEXT) {
  endAfter(fileLimitMs, `was not through after ${fileLimitMs / 60_000} minutes`)
  after(() => endAfter(graceMs, `went on for ${graceMs / 1000} s after its last test`))
}

function endAfter(ms: number, fault: string): void {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    process.stderr.write(`${process.argv[1]} ${fault}; open: ${open}\n`)
    // They hold the file's output open, and the runner waits for its end.
    for (const pid of offspringOf(process.pid)) tryKill(pid)
    process.exit(1)
  }, ms).unref()
}

/** All processes below this one, by Linux's process table. */
function offspringOf(root: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const parents = new Map(all.map((name) => [Number(name), parentOf(name)]))
  const isBelow = (pid: number | null | undefined): boolean => {
    return !!pid && (parents.get(pid) === root || isBelow(parents.get(pid)))
  }
  return [...parents.keys()].filter((pid) => isBelow(pid))
}

function parentOf(pid: string): number | null {
  try {
    // The name, in parentheses, may hold anything; state and parent follow it.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
