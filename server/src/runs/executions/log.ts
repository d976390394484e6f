import type { Db } from '../../ports/database/port.ts'
import { transcriptStore } from '../transcripts/index.ts'

/**
 * Streams a response with the log of a run as field `name`, one page of lines at a time, because transcripts
 * may be large. `head` has at least one field. Throws when `signal` aborts, so that a partial log never looks
 * complete.
 */
export async function* logText(
  head: object,
  name: 'log' | 'execution_log',
  pages: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  // Without the closing brace.
  yield `${JSON.stringify(head).slice(0, -1)},"${name}":[`
  let separator = ''
  for await (const lines of pages) {
    signal.throwIfAborted()
    yield separator + lines.join(',')
    separator = ','
  }
  yield ']}'
}

/** The lines up to number `last`, or all, one page at a time. */
export async function* storedLines(
  db: Db,
  executionId: string,
  last = Number.POSITIVE_INFINITY,
): AsyncGenerator<string[], void, undefined> {
  let after = 0
  while (after < last) {
    const page = await transcriptStore(db).page(executionId, after)
    const lines = page.filter(({ n }) => n <= last)
    if (lines.length === 0) return
    yield lines.map(({ text }) => text)
    after = lines.at(-1)?.n ?? last
  }
}
