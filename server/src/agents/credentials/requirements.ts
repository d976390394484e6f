import type { CredentialRequirement, CredentialRequirements } from '@roost/contracts/agents/credentials'
import { TemplateCredentialSetup, type TemplateFile } from '@roost/contracts/agents/templates'
import type { CredentialsStatusAnswer } from '@roost/contracts/link/credentials'
import { type RequiredCredential, requiredCredentials } from '../templates/index.ts'

/** The declared credential requirements, and where they came from. */
export type Declared =
  | { source: 'live_workspace' | 'catalog'; file: TemplateFile; required: RequiredCredential[] | null }
  | { source: 'none'; fault: string | null }

type Setup = TemplateFile['credential_setup'][number]

const formats = ['secret', 'filepath', 'dirpath', 'url', 'email', 'number', 'boolean', 'text'] as const
const knownKeys = Object.keys(TemplateCredentialSetup.shape)

/** Builds the checklist. With `live` null the agent did not answer, so no status is known. */
export function requirementsOf(
  agent_name: string,
  declared: Declared,
  live: CredentialsStatusAnswer | null,
): CredentialRequirements {
  const status_source = live ? ('live' as const) : ('unavailable' as const)
  if (declared.source === 'none') {
    const state = declared.fault === null ? 'no_credentials_required' : 'degraded'
    const about = { agent_name, requirements_source: declared.source, status_source }
    return { ...about, state, degraded_reason: declared.fault, ...summarized([]), errors: [] }
  }
  const { file } = declared
  const required =
    live || declared.required === null
      ? requiredCredentials(file.credentials, {
          mcpTemplate: live?.mcp_template ?? null,
          envExample: live?.env_example ?? null,
        })
      : declared.required
  const isSet = new Set([...(live?.variables ?? []), ...(live?.files ?? []).map(({ path }) => path)])
  const statusOf = (name: string) => (live === null ? 'unknown' : isSet.has(name) ? 'set' : 'missing')
  const setups = new Map(file.credential_setup.map((setup) => [setup.name, setup]))
  const names = new Set([...required.map(({ name }) => name), ...file.credentials.config_files])
  const errors = file.credential_setup.flatMap((setup) => faultsOf(setup, names))
  const requirements = [
    ...required.map((each) => requirementFor(each, setups.get(each.name), statusOf(each.name))),
    ...file.credentials.config_files.map((path) => ({
      ...requirementFor({ name: path, source: 'config_files' }, setups.get(path), statusOf(path)),
      format: 'filepath' as const,
    })),
  ]
  const isIncomplete = errors.length > 0 || requirements.some(({ advisory }) => advisory)
  return {
    agent_name,
    state: stateOf(live !== null, requirements.length, isIncomplete),
    requirements_source: declared.source,
    status_source,
    degraded_reason: live
      ? null
      : 'The credentials that are set are unknown: the agent is not running or does not answer.',
    ...summarized(requirements),
    errors,
  }
}

function stateOf(isLive: boolean, count: number, isIncomplete: boolean): CredentialRequirements['state'] {
  if (count === 0) return isIncomplete ? 'declaration_incomplete' : 'no_credentials_required'
  if (!isLive) return 'degraded'
  return isIncomplete ? 'declaration_incomplete' : 'ok'
}

function requirementFor(
  { name, source }: RequiredCredential,
  setup: Setup | undefined,
  status: CredentialRequirement['status'],
): CredentialRequirement {
  const isDeclared = source === 'env_file' || source === 'config_files' || source.startsWith('mcp:')
  const url = setupUrl(setup?.setup_url)
  return {
    name,
    title: textOf(setup?.title) ?? name,
    description: textOf(setup?.description),
    required: setup ? setup.required !== false : isDeclared ? true : 'unknown',
    secret: setup?.secret !== false,
    format: formats.find((format) => format === setup?.format) ?? null,
    default: textOf(setup?.default),
    source,
    advisory: !isDeclared,
    status,
    setup_url: url?.href ?? null,
    setup_url_host: url?.host ?? null,
  }
}

function faultsOf(setup: Setup, declaredNames: ReadonlySet<string>): string[] {
  const faults: string[] = []
  const name = setup.name.slice(0, 100)
  if (!declaredNames.has(setup.name)) faults.push(`${name}: is not declared in credentials`)
  for (const key of Object.keys(setup)) {
    if (!knownKeys.includes(key) && !key.startsWith('x-'))
      faults.push(`${name}: unknown key "${key.slice(0, 50)}"`)
  }
  if (setup.setup_url !== undefined && !setupUrl(setup.setup_url)) {
    faults.push(`${name}: setup_url must be an https address without a user`)
  }
  if (setup.format !== undefined && !formats.some((format) => format === setup.format)) {
    faults.push(`${name}: format must be one of ${formats.join(', ')}`)
  }
  return faults
}

function setupUrl(value: unknown): URL | null {
  if (typeof value !== 'string' || value.length > 2000 || !URL.canParse(value)) return null
  const url = new URL(value)
  return url.protocol === 'https:' && url.username === '' && url.password === '' ? url : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 2000) : null
}

function summarized(requirements: CredentialRequirement[]) {
  const count = (status: CredentialRequirement['status']) =>
    requirements.filter((each) => each.status === status).length
  const blocking = requirements.filter((each) => each.required === true && each.status === 'missing').length
  const summary = {
    total: requirements.length,
    set: count('set'),
    missing: count('missing'),
    unknown: count('unknown'),
    blocking,
  }
  return { requirements, summary }
}
