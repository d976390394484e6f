import { getMetrics } from '@roost/contracts/operations/metrics'
import { type Route, route, streamAnswer } from '../../http/route.ts'
import type { Metrics } from './service.ts'

/** For the internal listener, where agents cannot reach it. */
export function metricsRoutes(metrics: Pick<Metrics, 'page'>): Route[] {
  return [
    route(getMetrics, async () => {
      const { contentType, text } = await metrics.page()
      return streamAnswer(contentType, singleChunk(text))
    }),
  ]
}

async function* singleChunk(text: string): AsyncIterable<string> {
  yield text
}
