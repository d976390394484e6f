import type { Clock } from '../kit/clock.ts'
import type { Exit, Outcome, TurnInput } from '../runtimes/port.ts'
import type { RuntimeProcess, TurnSink } from './runtime-process.ts'

/** The end of a turn; `exit` is set when the process was stopped. */
export type TurnEnd = {
  how: 'result' | 'timeout' | 'stalled' | 'cancelled'
  outcome: Outcome
  exit: Exit | null
}

export type TurnOptions = {
  process: RuntimeProcess
  input: TurnInput
  sink: TurnSink
  timeoutMs: number
  stallMs: number
  /** Settles with the grace period when the turn is cancelled. */
  cancelled: Promise<{ graceMs: number; mayInterrupt: boolean }>
  clock: Clock
}

const stopGraceMs = 5000
/** Time for a live process to confirm an interrupt (usually 20 ms) before it is stopped. */
const interruptMs = 2000

/** Runs one turn until its result, its time limit, a stall or its cancellation. */
export async function runTurn(options: TurnOptions): Promise<TurnEnd> {
  const { process, clock } = options
  const outcome = process.turn(options.input, options.sink)
  const limits = watch(options)
  try {
    const first = await Promise.race([
      outcome.then(() => ({ how: 'result' as const })),
      limits.reached,
      options.cancelled.then((cancel) => ({ how: 'cancelled' as const, ...cancel })),
    ])
    if (first.how === 'result') return { how: 'result', outcome: await outcome, exit: null }
    if (first.how === 'cancelled' && first.mayInterrupt && process.interrupt()) {
      const answered = await withTimeout(clock, Math.min(interruptMs, first.graceMs), outcome)
      if (answered && process.isRunning()) return { how: 'cancelled', outcome: answered, exit: null }
    }
    const exit = await process.stop(first.how === 'cancelled' ? first.graceMs : stopGraceMs)
    return { how: first.how, outcome: await outcome, exit }
  } finally {
    limits.end()
  }
}

type Limit = { how: 'timeout' | 'stalled' }

function watch({ process, timeoutMs, stallMs, clock }: TurnOptions) {
  let cancelStall = () => {}
  let cancelTimeout = () => {}
  const reached = new Promise<Limit>((resolve) => {
    cancelTimeout = clock.after(timeoutMs, () => resolve({ how: 'timeout' }))
    const check = () => {
      const remainingMs = process.lastOutputAt() + stallMs - clock.elapsed()
      if (remainingMs <= 0) resolve({ how: 'stalled' })
      else cancelStall = clock.after(remainingMs, check)
    }
    cancelStall = clock.after(stallMs, check)
  })
  return {
    reached,
    end() {
      cancelStall()
      cancelTimeout()
    },
  }
}

/** Returns the value of `promise`, or null after `ms`. */
async function withTimeout<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | null> {
  let cancel = () => {}
  const late = new Promise<null>((resolve) => {
    cancel = clock.after(ms, () => resolve(null))
  })
  const first = await Promise.race([promise, late])
  cancel()
  return first
}
