import { frames } from './progress.ts'
import { styled } from './style.ts'

/** Shows on the error output that something is awaited. Hide it before anything else is printed. */
export type Spinner = {
  show(text: string): void
  hide(): void
  /** Shows `text` while `work` runs. Inside another one, the outer text stays. */
  during<T>(text: string, work: () => Promise<T>): Promise<T>
}

type Output = { isTTY?: boolean; columns?: number; write(text: string): unknown }

/** Shorter waits show nothing, because a flash is harder to read than a pause. */
const delayMs = 400
const frameMs = 100

/** Without a terminal, on a dumb one and with `isSilent` nothing is shown. */
export function createSpinner({
  output = process.stderr,
  terminal = process.env.TERM,
  isSilent = false,
}: {
  output?: Output
  terminal?: string | undefined
  isSilent?: boolean
} = {}): Spinner {
  const isShown = output.isTTY === true && terminal !== 'dumb' && !isSilent
  let timer: NodeJS.Timeout | null = null
  let isDrawn = false
  let nested = 0

  const hide = () => {
    if (timer) clearInterval(timer)
    timer = null
    if (isDrawn) output.write('\r\u001b[K')
    isDrawn = false
  }
  const show = (text: string) => {
    if (!isShown) return
    hide()
    const since = Date.now()
    timer = setInterval(() => {
      const elapsed = Date.now() - since
      if (elapsed < delayMs) return
      const frame = frames[Math.floor(elapsed / frameMs) % frames.length] ?? ''
      const width = (output.columns || 80) - 4
      const shown = text.length > width ? `${text.slice(0, width - 1)}…` : text
      output.write(`\r\u001b[K${styled('cyan', frame, output)} ${shown}`)
      isDrawn = true
    }, frameMs)
    // A finished command must not wait for its spinner.
    timer.unref()
  }
  return {
    show,
    hide,
    async during(text, work) {
      nested += 1
      if (nested === 1) show(text)
      try {
        return await work()
      } finally {
        nested -= 1
        if (nested === 0) hide()
      }
    },
  }
}
