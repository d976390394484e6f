import type { Log } from '../../ports/log.ts'
import type { CallLine, callStore } from './store.ts'

export type Minutes = {
  add(line: CallLine): void
  /** Resolves when everything that was added is kept. */
  kept(): Promise<void>
}

/** What was said, kept as it is said: a call whose process dies has its transcript all the same. */
export function createMinutes(
  store: Pick<ReturnType<typeof callStore>, 'addLine'>,
  callId: string,
  log: Pick<Log, 'error'>,
): Minutes {
  let n = 0
  let keeping = Promise.resolve()
  return {
    add({ role, text }) {
      if (text.trim() === '') return
      n += 1
      const place = n
      const line = { role, text: text.trim() }
      keeping = keeping
        .then(() => store.addLine(callId, place, line))
        .catch((error: unknown) =>
          log.error({ call_id: callId, err: error }, 'a line of a call was not kept'),
        )
    },
    kept: () => keeping,
  }
}
