import { Readable } from 'node:stream'
import { spec as Spec, type TestEvent } from 'node:test/reporters'

/** Node's `spec` reporter without its coverage table, which has one line per source file. */
export default async function* specReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  yield* Readable.from(withoutCoverage(source)).pipe(new Spec())
}

async function* withoutCoverage(source: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  for await (const event of source) if (event.type !== 'test:coverage') yield event
}
