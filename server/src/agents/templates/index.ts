/**
 * Templates: what an agent can be made from.
 *
 * Owns the reading of `template.yaml` and the folder of bundled templates. Promises that a file from
 * anybody is read within bounds, and that what is wrong with it is named with its line. Refuses to know how
 * an agent is made from one: `registry/create` asks for a resolved template.
 */
export { parseTemplate } from './parse.ts'
export { templateRoutes } from './routes.ts'
export { type ParsedSchedules, parseTemplateSchedules } from './schedules.ts'
export { createTemplates, type ResolvedTemplate, type Templates, type TemplatesDeps } from './templates.ts'
