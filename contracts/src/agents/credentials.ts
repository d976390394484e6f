import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, megabyte, Timestamp } from '../kit/primitives.ts'
import { bundleFile, maxCredentialBytes, maxCredentialFiles } from '../link/credentials.ts'
import { CredentialHosts } from './egress.ts'

const tag = 'Credentials'
const owned = { tag, access: { who: 'owner', gate: 'person' }, params: AgentParams } as const

const FileState = z.object({
  exists: z.boolean(),
  size: z.number().int().optional(),
  modified: Timestamp.optional(),
})
export const shownCredentialFiles = ['.env', '.mcp.json', '.mcp.json.template', bundleFile] as const

export const CredentialsStatus = z.object({
  agent_name: z.string(),
  status: z.enum(['running', 'agent_not_running']),
  files: z.object({
    '.env': FileState,
    '.mcp.json': FileState,
    '.mcp.json.template': FileState,
    '.credentials.enc': FileState,
  }),
  /** Variables with a value, plus credential files other than the four above. */
  credential_count: z.number().int(),
  /** Names only, never values. */
  variables: z.array(z.string()),
  credential_files: z.array(z.string()),
  /** Servers of the template missing in `.mcp.json`, with the variables that have no value. */
  left_out_servers: z.array(z.object({ server: z.string(), names: z.array(z.string()), reason: z.string() })),
})
export type CredentialsStatus = z.output<typeof CredentialsStatus>

export const getCredentialsStatus = endpoint({
  id: 'getCredentialsStatus',
  method: 'GET',
  path: '/api/agents/{name}/credentials/status',
  summary: 'Names of the credential files and variables of an agent',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: CredentialsStatus,
  fails: ['agent_not_found', 'agent_unresponsive'],
})

/** JSON may need several characters per byte; the limit per file is checked after decoding. */
const injectBodyLimit = Math.ceil((maxCredentialFiles * maxCredentialBytes * 4) / 3) + 2 * megabyte

export const InjectCredentials = z.object({
  files: z.record(z.string(), z.string()).default({}),
  files_b64: z.record(z.string(), z.string()).default({}),
  /** Variables of `.env` whose values stay in the platform, each with the hosts that receive it. */
  hosts: z.record(z.string(), CredentialHosts).optional(),
})
export type InjectCredentials = z.output<typeof InjectCredentials>

export const injectCredentials = endpoint({
  ...owned,
  id: 'injectCredentials',
  method: 'POST',
  path: '/api/agents/{name}/credentials/inject',
  summary: 'Write credential files into a running agent, all or none',
  description:
    'At most 50 files of 1 MiB: .env, .mcp.json, keys and certificates, credentials as JSON, and files below ' +
    'credentials/. They apply from the next run on. Values are never returned and are masked in transcripts. For a ' +
    'variable with hosts, the file gets a placeholder: see egress.',
  body: InjectCredentials,
  bodyLimit: injectBodyLimit,
  returns: z.object({
    status: z.literal('success'),
    files_written: z.array(z.string()),
    message: z.string(),
  }),
  fails: [
    'disk_quota_reached',
    'agent_not_found',
    'agent_stopped',
    'credential_path_refused',
    'file_not_found',
    'conflict',
    'invalid_mcp_json',
    'file_too_large',
    'rate_limited',
    'agent_unresponsive',
  ],
  audit: { type: 'credentials', action: 'inject_credentials' },
})

export const exportCredentials = endpoint({
  ...owned,
  id: 'exportCredentials',
  method: 'POST',
  path: '/api/agents/{name}/credentials/export',
  summary: 'Seal the credential files into .credentials.enc in the workspace',
  description:
    'Only an installation with the same encryption key can open it. At most 8 MiB of files in total.',
  returns: z.object({
    status: z.literal('success'),
    encrypted_file: z.literal(bundleFile),
    files_exported: z.number().int(),
  }),
  fails: [
    'agent_not_found',
    'agent_stopped',
    'credential_path_refused',
    'file_not_found',
    'file_too_large',
    'conflict',
    'rate_limited',
    'agent_unresponsive',
  ],
  audit: { type: 'credentials', action: 'export_credentials' },
})

export const importCredentials = endpoint({
  ...owned,
  id: 'importCredentials',
  method: 'POST',
  path: '/api/agents/{name}/credentials/import',
  summary: "Restore the files of the workspace's .credentials.enc, all or none",
  returns: z.object({
    status: z.literal('success'),
    files_imported: z.array(z.string()),
    message: z.string(),
  }),
  fails: [
    'disk_quota_reached',
    'agent_not_found',
    'agent_stopped',
    'bundle_missing',
    'bundle_corrupt',
    'credential_path_refused',
    'file_not_found',
    'conflict',
    'rate_limited',
    'agent_unresponsive',
  ],
  audit: { type: 'credentials', action: 'import_credentials' },
})

export const CredentialRequirement = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  required: z.union([z.boolean(), z.literal('unknown')]),
  secret: z.boolean(),
  format: z.enum(['secret', 'filepath', 'dirpath', 'url', 'email', 'number', 'boolean', 'text']).nullable(),
  default: z.string().nullable(),
  source: z.string(),
  /** Found in the template's files, but not declared by its author. */
  advisory: z.boolean(),
  status: z.enum(['set', 'missing', 'unknown']),
  setup_url: z.string().nullable(),
  setup_url_host: z.string().nullable(),
})
export type CredentialRequirement = z.output<typeof CredentialRequirement>

export const CredentialRequirements = z.object({
  agent_name: z.string(),
  state: z.enum(['ok', 'no_credentials_required', 'declaration_incomplete', 'degraded']),
  requirements_source: z.enum(['live_workspace', 'catalog', 'none']),
  status_source: z.enum(['live', 'unavailable']),
  degraded_reason: z.string().nullable(),
  requirements: z.array(CredentialRequirement),
  summary: z.object({
    total: z.number().int(),
    set: z.number().int(),
    missing: z.number().int(),
    unknown: z.number().int(),
    /** Required and missing. */
    blocking: z.number().int(),
  }),
  errors: z.array(z.string()),
})
export type CredentialRequirements = z.output<typeof CredentialRequirements>

export const getCredentialRequirements = endpoint({
  id: 'getCredentialRequirements',
  method: 'GET',
  path: '/api/agents/{name}/credential-requirements',
  summary: 'The credentials that an agent requires',
  tag,
  access: { who: 'owner', gate: 'human' },
  params: AgentParams,
  returns: CredentialRequirements,
  fails: ['agent_not_found'],
})

export const getSuppressedVariables = endpoint({
  id: 'getSuppressedVariables',
  method: 'GET',
  path: '/api/credentials/status',
  summary: 'Variables that the platform withholds from agents or ignores in a .env; `*` matches any ending',
  tag,
  access: { who: 'any' },
  returns: z.object({ suppressed_env_keys: z.array(z.string()) }),
})
