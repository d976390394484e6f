import {
  deleteModelPrices,
  getModelPrices,
  type PriceTable,
  putModelPrices,
} from '@roost/contracts/runs/model-prices'
import { type Route, route } from '../../http/route.ts'
import type { Prices } from './service.ts'

export function priceRoutes(prices: Pick<Prices, 'view' | 'put' | 'remove'>): Route[] {
  return [
    route(getModelPrices, async () => prices.view()),
    route(putModelPrices, async ({ body, request }) => {
      request.note(summaryOf(body))
      return prices.put(body)
    }),
    route(deleteModelPrices, async () => prices.remove()),
  ]
}

/** Audit log entry of a table: the source of each provider's prices and its models. */
function summaryOf({ providers }: PriceTable): Record<string, unknown> {
  const named = Object.entries(providers).flatMap(([name, provider]) =>
    provider ? [{ name, provider }] : [],
  )
  return Object.fromEntries(
    named.map(({ name, provider: { as_of, source, models, families } }) => [
      name,
      {
        as_of,
        source,
        models: models.length,
        families: families.length,
        ids: models.slice(0, 50).map(({ id }) => id),
      },
    ]),
  )
}
