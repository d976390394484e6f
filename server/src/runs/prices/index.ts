/**
 * Prices: what model requests cost.
 *
 * The built-in table is the data file `table.json`, validated at start. An imported table, stored as a setting,
 * replaces and extends its rows without a restart. A model without a row gets the prices of its family and is
 * marked as estimated, so an unknown name is never free.
 */
export type { Price, PriceLookup } from './lookup.ts'
export { priceRoutes } from './routes.ts'
export { createPrices, type Prices } from './service.ts'
