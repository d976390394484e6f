import type { ScheduleError } from '@roost/contracts/agents/registry'
import type {
  TemplateDetails,
  TemplateEntry,
  TemplateFile,
  TemplateWarning,
} from '@roost/contracts/agents/templates'
import { type RequiredCredential, requiredCredentials } from './credentials.ts'
import { readTemplate } from './parse.ts'
import { type ParsedSchedules, parseTemplateSchedules } from './schedules.ts'

/** A template's own description, for local and git templates alike. */
export type DescribedTemplate = {
  /** `local:<name>` or `github:owner/repo`. */
  id: string
  name: string
  /** `owner/repo`; null for a local template. */
  repository: string | null
  file: TemplateFile
  schedules: ParsedSchedules['schedules']
  scheduleErrors: ScheduleError[]
  /** Parts of `template.yaml` that have no effect. */
  warnings: TemplateWarning[]
  required: RequiredCredential[]
}

/** The files that describe a template; null for a missing file. */
export type TemplateTexts = { template: string; mcpTemplate: string | null; envExample: string | null }

/** Throws `template_unresolvable`. */
export function describeTemplate(
  { id, name, repository }: Pick<DescribedTemplate, 'id' | 'name' | 'repository'>,
  texts: TemplateTexts,
): DescribedTemplate {
  const { file, warnings } = readTemplate(texts.template)
  const { schedules, errors } = parseTemplateSchedules(file.schedules)
  const required = requiredCredentials(file.credentials, texts)
  return { id, name, repository, file, schedules, scheduleErrors: errors, warnings, required }
}

export function entryOf(template: DescribedTemplate): TemplateEntry {
  const { id, name, repository, file, schedules, required, warnings } = template
  return {
    id,
    name,
    display_name: file.display_name,
    description: file.description,
    source: repository === null ? 'local' : 'git',
    github_repo: repository,
    resources: file.resources,
    runtime: file.runtime.type,
    mcp_servers: [...new Set([...Object.keys(file.credentials.mcp_servers), ...file.mcp_servers])],
    required_credentials: required,
    schedules_count: schedules.length,
    warnings_count: warnings.length,
    metadata_unavailable: false,
  }
}

export function detailsOf(template: DescribedTemplate): TemplateDetails {
  const { runtime, resources: _, schedules: __, mcp_servers: ___, ...rest } = template.file
  return {
    ...rest,
    ...entryOf(template),
    model: runtime.model,
    schedules: template.schedules,
    template_warnings: template.warnings,
  }
}

/** Placeholder entry for a repository whose metadata cannot be read. */
export function unknownEntry(repository: string): TemplateEntry {
  return {
    id: `github:${repository}`,
    name: nameOf(repository),
    display_name: repository,
    description: '',
    source: 'git',
    github_repo: repository,
    resources: { cpu: null, memory: null },
    runtime: 'claude-code',
    mcp_servers: [],
    required_credentials: [],
    schedules_count: 0,
    warnings_count: 0,
    metadata_unavailable: true,
  }
}

export function nameOf(repository: string): string {
  return repository.split('/')[1] ?? repository
}
