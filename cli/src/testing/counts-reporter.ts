import type { TestEvent } from 'node:test/reporters'

type Counts = Record<string, number>

/** A reporter for `node --test` that writes one line: the counts of the whole run as JSON. */
export default async function* countsReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type !== 'test:summary') continue
    const { file, counts } = event.data as { file?: string; counts: Counts }
    // Each file has a summary of its own; the one without a file is the sum.
    if (file === undefined) yield `${JSON.stringify(counts)}\n`
  }
}
