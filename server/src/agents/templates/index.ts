/**
 * Templates: what an agent can be made from.
 *
 * Owns the reading of `template.yaml`, the folder of bundled templates and the unpacked contents of those from
 * git. Promises that what comes from anybody is read within bounds, that what is wrong with it is named, and
 * that nothing of it leaves its folder. Refuses to know how an agent is made from one: `registry/create` asks
 * for a resolved template.
 */

export { type RequiredCredential, requiredCredentials } from './credentials.ts'
export { type OpenTemplatesDeps, openTemplates } from './open.ts'
export { parseTemplate, type ReadTemplate, readTemplate } from './parse.ts'
export { templateRoutes } from './routes.ts'
export { type ParsedSchedules, parseTemplateSchedules } from './schedules.ts'
export type { ResolvedTemplate, Templates } from './service.ts'
export { atBranch, parseTemplateName } from './template-name.ts'
