import type { Db } from '../../ports/database/port.ts'
import { transcriptStore } from '../transcripts/index.ts'

/**
 * A reply with the log of a run as its field `name`, as JSON text that is written a page of lines at a time: a
 * transcript may be larger than what the process should hold for each of its readers, and is stored as the text that
 * it is told as. `head` has a field at least. Throws when `signal` aborts, so that the reply breaks off: half a log
 * never looks like a whole one.
 */
export async function* logText(
  head: object,
  name: 'log' | 'execution_log',
  pages: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  // Without the brace at its end.
  yield `${JSON.stringify(head).slice(0, -1)},"${name}":[`
  let separator = ''
  for await (const lines of pages) {
    signal.throwIfAborted()
    yield separator + lines.join(',')
    separator = ','
  }
  yield ']}'
}

/** The lines up to number `last`, or all, a page at a time. */
export async function* storedLines(
  db: Db,
  executionId: string,
  last = Number.POSITIVE_INFINITY,
): AsyncGenerator<string[], void, undefined> {
  let told = 0
  while (told < last) {
    const found = await transcriptStore(db).page(executionId, told)
    const lines = found.filter(({ n }) => n <= last)
    if (lines.length === 0) return
    yield lines.map(({ text }) => text)
    told = lines.at(-1)?.n ?? last
  }
}
