/**
 * Values that the web UI stores per person. A writer that names the value it started from cannot overwrite a
 * newer one. Independent of the meaning of the values.
 */
export { preferenceRoutes } from './routes.ts'
export { createPreferences, type Preferences } from './service.ts'
