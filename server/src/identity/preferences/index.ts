/**
 * What the pages of a person remember. Promises that a change made from an older value does not overwrite a
 * newer one, when the writer says which value it came from. Refuses to know what the values mean.
 */
export { preferenceRoutes } from './routes.ts'
export { createPreferences, type Preferences } from './service.ts'
