/** Every tab of an agent, looked at as the pages in `every-page.test.ts` are. */
import { after, afterEach, before, describe, test } from 'node:test'
import { agentTabPlaces } from '../../web/src/shell/agent-tabs.ts'
import type { Bench } from './bench.ts'
import { reportFailure } from './evidence.ts'
import { openDemoBench, reviewerOf } from './page-pictures.ts'

describe('an agent of the demo', () => {
  let bench: Bench
  let look: ReturnType<typeof reviewerOf>
  before(async () => {
    bench = await openDemoBench()
    look = reviewerOf(bench)
  })
  after(() => bench?.[Symbol.asyncDispose]())
  afterEach((context) => reportFailure(bench, context))

  for (const { id } of agentTabPlaces)
    test(`the tab ${id}`, () =>
      look({ name: `agent-${id}`, route: '/agents/$name', path: `/agents/demo-digest?tab=${id}` }))
})
