import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { after } from 'node:test'

/** Limit per file; `--test-timeout` is the limit per test. */
const fileLimitMs = 15 * 60_000
/** Time a file's process may continue after its last test. */
const graceMs = Number(process.env.ROOST_TEST_GRACE_MS ?? 30_000)

// Loaded into every process of Node's runner. A test that timed out can leave servers and programs behind, and the
// runner would wait for them forever. This ends such a file as failed and prints its open resources.
if (process.env.NODE_TEST_CONTEXT) {
  leaveOutWhenLate()
  endAfter(fileLimitMs, `did not finish within ${fileLimitMs / 60_000} minutes`)
  after(() => endAfter(graceMs, `kept running for ${graceMs / 1000} s after its last test`))
}

/** Ends a file that starts after the run's deadline before its tests, and notes its path. See `stages.ts`. */
function leaveOutWhenLate(): void {
  const { ROOST_TEST_START_UNTIL: until, ROOST_TEST_LEFT_OUT: list } = process.env
  if (!until || !list || Date.now() < Number(until)) return
  appendFileSync(list, `${process.argv[1]}\n`)
  process.exit(0)
}

function endAfter(ms: number, problem: string): void {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    process.stderr.write(`${process.argv[1]} ${problem}; open: ${open}\n`)
    // Descendants hold the file's output open, and the runner waits for its end.
    for (const pid of descendantsOf(process.pid)) tryKill(pid)
    process.exit(1)
  }, ms).unref()
}

/** Returns all descendant processes, read from `/proc`. */
function descendantsOf(root: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const parents = new Map(all.map((name) => [Number(name), parentOf(name)]))
  const isBelow = (pid: number | null | undefined): boolean => {
    return !!pid && (parents.get(pid) === root || isBelow(parents.get(pid)))
  }
  return [...parents.keys()].filter((pid) => isBelow(pid))
}

function parentOf(pid: string): number | null {
  try {
    // The name, in parentheses, may contain anything; state and parent id follow it.
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
    // The process has already ended.
  }
}
