import { duration } from './duration.ts'

/** Tells a person what is going on, on a terminal with a moving line, elsewhere with plain lines. */
export type Progress = {
  line(text: string): void
  /** Shows `title` and the time since while `work` runs, and what it says. Passes on its result and errors. */
  step<T>(title: string, work: (say: Say) => Promise<T>): Promise<T>
}

/** `passing` words are shown where they can be overwritten by the next ones, and not kept anywhere else. */
export type Say = (text: string, weight?: 'passing') => void

type Output = { isTTY?: boolean; columns?: number; write(text: string): unknown }
type Now = () => number

/** What takes less than this is not worth a line. */
const worthTellingMs = 1_500
/** Without a terminal: how often somebody who waits is told that it still goes on. */
const stillMs = 15_000
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** `terminal` is the kind of terminal (`TERM`): a dumb one cannot write over a line. */
export function createProgress(
  output: Output = process.stdout,
  now: Now = Date.now,
  terminal = process.env.TERM,
): Progress {
  return output.isTTY && terminal !== 'dumb' ? onTerminal(output, now) : inLines(output, now)
}

function onTerminal(output: Output, now: Now): Progress {
  let status: (() => string) | null = null
  const clear = () => output.write('\r\u001b[K')
  const draw = () => {
    if (!status) return
    const width = (output.columns ?? 80) - 1
    const text = status()
    output.write(`\r\u001b[K${text.length > width ? `${text.slice(0, width - 1)}…` : text}`)
  }
  const line = (text: string) => {
    if (status) clear()
    output.write(`${text}\n`)
    draw()
  }
  return {
    line,
    async step(title, work) {
      const startedAt = now()
      const outer = status
      let detail = ''
      status = () => {
        const spent = now() - startedAt
        const frame = frames[Math.floor(spent / 100) % frames.length]
        return `${frame} ${title} (${duration(spent)})${detail ? `: ${detail}` : ''}`
      }
      draw()
      const timer = setInterval(draw, 100)
      try {
        const result = await work((text) => {
          detail = text
          draw()
        })
        status = outer
        clear()
        if (now() - startedAt >= worthTellingMs) line(`✓ ${title} (${duration(now() - startedAt)})`)
        return result
      } catch (error) {
        status = outer
        clear()
        line(`✗ ${title} (${duration(now() - startedAt)})`)
        throw error
      } finally {
        clearInterval(timer)
        status = outer
      }
    },
  }
}

function inLines(output: Output, now: Now): Progress {
  const line = (text: string) => void output.write(`${text}\n`)
  return {
    line,
    async step(title, work) {
      const startedAt = now()
      let toldAt = startedAt
      let isTold = false
      const tell = (text: string) => {
        if (!isTold) line(`${title} …`)
        isTold = true
        toldAt = now()
        if (text) line(text)
      }
      const timer = setInterval(() => {
        const spent = now() - startedAt
        if (!isTold && spent >= worthTellingMs) tell('')
        else if (isTold && now() - toldAt >= stillMs) tell(`  still at it (${duration(spent)})`)
      }, 500)
      try {
        const result = await work((text, weight) => {
          if (weight !== 'passing') tell(`  ${text}`)
        })
        if (isTold) line(`${title}: done in ${duration(now() - startedAt)}`)
        return result
      } catch (error) {
        line(`${title}: failed after ${duration(now() - startedAt)}`)
        throw error
      } finally {
        clearInterval(timer)
      }
    },
  }
}
