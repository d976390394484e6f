/**
 * Templates: the sources that agents can be created from.
 *
 * Owns the parsing of `template.yaml`, the folder of bundled templates and the unpacked contents of git
 * templates, and delivers a template to a new agent. Untrusted input is read within limits, errors name the problem, and nothing escapes its folder.
 * `management/create` creates agents from resolved templates.
 */

export { type RequiredCredential, requiredCredentials } from './credentials.ts'
export { createTemplateDelivery, type TemplateDelivery } from './delivery.ts'
export { type OpenTemplatesDeps, openTemplates } from './open.ts'
export { parseTemplate, type ReadTemplate, readTemplate } from './parse.ts'
export { templateRoutes } from './routes.ts'
export { type ParsedSchedules, parseTemplateSchedules } from './schedules.ts'
export type { ResolvedTemplate, Templates } from './service.ts'
export { atBranch, parseTemplateName } from './template-name.ts'
