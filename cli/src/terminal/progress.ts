import { duration } from './duration.ts'

/** Shows progress: an animated line on a terminal, plain lines elsewhere. */
export type Progress = {
  line(text: string): void
  /** Shows `title`, the elapsed time and the messages of `work` while it runs. Passes its result and errors on. */
  step<T>(title: string, work: (report: Report) => Promise<T>): Promise<T>
}

/** A `transient` message is shown only where the next one can overwrite it. */
export type Report = (text: string, weight?: 'transient') => void

type Output = { isTTY?: boolean; columns?: number; write(text: string): unknown }
type Now = () => number

/** Quicker steps get no line. */
const minShownMs = 1_500
/** Without a terminal: the time after which a silent step prints that it still runs. */
const maxSilenceMs = 15_000
export const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** `terminal` is the type of terminal (`TERM`); a dumb one cannot overwrite a line. */
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
        const elapsed = now() - startedAt
        const frame = frames[Math.floor(elapsed / 100) % frames.length]
        return `${frame} ${title} (${duration(elapsed)})${detail ? `: ${detail}` : ''}`
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
        if (now() - startedAt >= minShownMs) line(`✓ ${title} (${duration(now() - startedAt)})`)
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
      let lastLineAt = startedAt
      let hasTitle = false
      const print = (text: string) => {
        if (!hasTitle) line(`${title} …`)
        hasTitle = true
        lastLineAt = now()
        if (text) line(text)
      }
      const timer = setInterval(() => {
        const elapsed = now() - startedAt
        if (!hasTitle && elapsed >= minShownMs) print('')
        else if (hasTitle && now() - lastLineAt >= maxSilenceMs)
          print(`  still running (${duration(elapsed)})`)
      }, 500)
      try {
        const result = await work((text, weight) => {
          if (weight !== 'transient') print(`  ${text}`)
        })
        if (hasTitle) line(`${title}: done in ${duration(now() - startedAt)}`)
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
