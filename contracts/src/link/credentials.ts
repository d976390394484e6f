/**
 * Rules for credential files, protected paths and reserved variables. Both ends of the link apply them: the
 * platform names the broken rule to the caller, and the container's program checks again. Imports no
 * validation library.
 */

export const workspaceHome = '/home/developer'
export const bundleFile = '.credentials.enc'
export const mcpTemplateFile = '.mcp.json.template'
export const maxCredentialFiles = 50
export const maxCredentialBytes = 1024 * 1024
/** Limit for all files of a bundle before sealing; opening a bundle then needs at most 64 MiB. */
export const maxBundledBytes = 8 * 1024 * 1024
/** A bundle file contains base64 inside base64, and its envelope. */
export const maxBundleBytes = 15 * 1024 * 1024

/** Files below the workspace that nobody may write or delete directly; only the owner reads them. */
export const protectedFiles: readonly string[] = ['.env', '.mcp.json', bundleFile]
/**
 * Folders with the same protection, including their contents: git data, login keys and the platform's own
 * files.
 */
export const protectedFolders: readonly string[] = ['.git', '.ssh', '.roost']

/** Conversations of every person, pending lines and keys. Requests cannot reach what is in it. */
const platformFolder = '.roost'
/** Programs in it that the platform starts as the agent. Only the owner may change them. */
const startupFiles: readonly string[] = ['.roost/pre-check', '.roost/setup.sh']
/** Folders in which the runtimes look for settings, hooks and skills. */
const runtimeFolders: readonly string[] = ['.claude', '.gemini', '.codex']
/** What runtimes and the platform obey. It has an effect only if the owner wrote it. */
export const obeyedPaths: readonly string[] = [
  '.env',
  '.mcp.json',
  mcpTemplateFile,
  ...startupFiles,
  ...runtimeFolders,
]
/** The exceptions: files through which the workspace and the platform work together. */
const interfaceFiles: readonly string[] = ['.roost/operator-queue.json', ...startupFiles]

/** True for everything in the platform's folder that no request may list, read, write, pack or delete. */
export function isClosed(inside: string): boolean {
  return inside.startsWith(`${platformFolder}/`) && !interfaceFiles.includes(inside)
}

/** True when only the owner may write or delete the path. */
export function isOwnersToWrite(inside: string): boolean {
  return obeyedPaths.some((path) => isIn(inside, path))
}

/**
 * True when only the owner may read the path, because its name marks a credential file: those of the platform,
 * in any folder and any case, and those of common tools. Files of package managers are excluded.
 */
export function isOwnersAlone(inside: string): boolean {
  const path = inside.toLowerCase()
  const parts = path.split('/')
  if (parts[0] === 'credentials' || toolsSecrets.some((secret) => `/${path}/`.includes(`/${secret}/`)))
    return true
  if (parts.some((part) => installedFolders.has(part))) return false
  const name = parts.at(-1) ?? ''
  if (exampleForm.test(name)) return false
  if (plainNames.includes(name) || path === bundleFile) return true
  return nameForms.some((form) => form.test(name))
}

/** True for a protected file or folder and everything in it. */
export function isProtectedPath(inside: string): boolean {
  if (interfaceFiles.includes(inside)) return false
  return protectedFiles.includes(inside) || protectedFolders.some((folder) => isIn(inside, folder))
}

/** Belongs to the installation, not to the agent: the platform's folder, login keys, mounts, its sealed bundle. */
const installationsPaths: readonly string[] = [
  platformFolder,
  '.ssh',
  'shared-in',
  bundleFile,
  '.roost-initialized',
]

/** True for a path that an export of the agent contains and an import accepts. */
export function isPortable(inside: string, withCredentials: boolean): boolean {
  if (startupFiles.includes(inside)) return true
  if (installationsPaths.some((path) => isIn(inside, path))) return false
  return withCredentials || !isOwnersAlone(inside)
}

/** True for a path that runs obey, and for what git runs by itself. Someone else may be its author after an import. */
export function needsTrust(inside: string): boolean {
  return isOwnersToWrite(inside) || gitControl.test(inside)
}

const gitControl = /(^|\/)\.git(\/(config|config\.worktree|hooks|modules)(\/|$)|$)/

function isIn(inside: string, folder: string): boolean {
  return inside === folder || inside.startsWith(`${folder}/`)
}

/** True when something protected is below the path and would be deleted with it. */
export function holdsProtectedPath(inside: string): boolean {
  const all = [...protectedFiles, ...protectedFolders]
  return inside === '' || all.some((path) => path.startsWith(`${inside}/`))
}

const plainNames = ['.env', '.mcp.json', '.netrc', '.npmrc', '.pypirc']
const nameForms = [
  /^\.env\.[A-Za-z0-9_-]+$/,
  /^[^/]+\.(pem|key|p12|pfx|crt|cer|der)$/,
  /^[^/]*credentials[^/]*\.json$/,
  /^service-account[^/]*\.json$/,
]
/** Example files list variable names without values. */
const exampleForm = /^\.env\.(example|sample|template|dist)$/
/** Files and folders, at any depth, in which tools store credentials of other services. */
const toolsSecrets: readonly string[] = [
  '.ssh',
  '.aws',
  '.azure',
  '.docker',
  '.gnupg',
  '.kube',
  '.config/gcloud',
  '.config/gh',
  '.git-credentials',
  '.pgpass',
  '.my.cnf',
  '.codex/auth.json',
  '.gemini/oauth_creds.json',
  'id_rsa',
  'id_ecdsa',
  'id_ed25519',
]
const installedFolders = new Set(['node_modules', 'site-packages'])
/** Folders of tools, whose files control what runs: settings, hooks, startup files, skills. */
const closedFolders =
  /^(\.git|\.ssh|\.roost|\.tmp|\.claude|\.gemini|\.codex|\.config|\.local|\.cache|node_modules)$/i
const longestPath = 255

/**
 * Returns why a path is not a valid credential file, or null. Compares names literally: no decoding, no
 * Unicode normalization, no links.
 */
export function credentialPathFault(path: string): string | null {
  if (path === '' || path.length > longestPath) return 'must have 1 to 255 characters'
  // ASCII only: lookalike letters and slashes have no place in a file that is sourced.
  if (!/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(path)) return 'must be printable ASCII'
  if (/[\\%:*?"<>|]/.test(path)) return 'must not contain any of \\ % : * ? " < > |'
  const parts = path.split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..' || part.endsWith('.'))) {
    return 'must be relative, without empty parts, "." and ".."'
  }
  if (parts.slice(0, -1).some((part) => closedFolders.test(part))) return 'lies in a folder of a tool'
  if (path === bundleFile || path === mcpTemplateFile) return 'belongs to the platform'
  if (parts[0] === 'credentials' && parts.length > 1) return null
  if (plainNames.includes(path)) return null
  const name = parts.at(-1) ?? ''
  return nameForms.some((form) => form.test(name)) ? null : 'is not a credential file'
}

// ── variables ──────────────────────────────────────────────────────────────────────────────────────

/**
 * Variables that the platform sets for a runtime, so people are not asked for them. A star matches any
 * suffix.
 */
export const injectedVariables = [
  'ANTHROPIC_*',
  'CLAUDE_CODE_*',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'OPENAI_API_KEY',
  'GITHUB_PAT',
  'GITHUB_REPO',
  'GIT_*',
  'OTEL_*',
  'ROOST_*',
] as const

/**
 * Variables that affect how a process starts (the loader's apply while the container's program still has
 * capabilities), and the process's identity.
 */
const guardedVariables = [
  'LD_*',
  'MALLOC_*',
  'GLIBC_TUNABLES',
  'GCONV_PATH',
  'LOCPATH',
  'NLSPATH',
  'HOSTALIASES',
  'GETCONF_DIR',
  'TZDIR',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'GEMINI_CLI_HOME',
] as const

/** Names in a workspace's `.env` that do not reach a run. */
export const suppressedVariables: readonly string[] = [...injectedVariables, ...guardedVariables]

export function namesVariable(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  )
}

// ── .mcp.json ──────────────────────────────────────────────────────────────────────────────────────

export const mcpCommands = ['npx', 'uvx', 'python', 'python3', 'node', 'bun', 'deno'] as const
const shellCharacters = /[;&|`$<>()\\\n\r\0]/

export type McpServer =
  | { command: string; args?: string[]; env?: Record<string, string> }
  | { type: 'http' | 'sse'; url: string; headers?: Record<string, string> }

/** The entry for the platform's own tools; only the platform writes it. */
export const ownServer = 'roost'

/**
 * Returns why a value is not a valid entry of `mcpServers`, or null. Only `isTemplate` allows placeholders.
 */
export function mcpServerFault(server: unknown, isTemplate = false): string | null {
  if (!isRecord(server)) return 'must be an object'
  if ('command' in server) return processFault(server)
  if (!('url' in server)) return 'must have a "command" or a "url"'
  const extra = Object.keys(server).find((key) => !['type', 'url', 'headers'].includes(key))
  if (extra) return `must not have the field "${extra.slice(0, 50)}"`
  const { type, url, headers } = server
  if (type !== 'http' && type !== 'sse') return 'must have the type "http" or "sse"'
  if (typeof url !== 'string' || !(isHttpUrl(url) || (isTemplate && url.includes('${')))) {
    return 'must have an http(s) address as "url"'
  }
  return headers === undefined || isTexts(headers) ? null : 'must have texts as "headers"'
}

function processFault(server: Record<string, unknown>): string | null {
  const extra = Object.keys(server).find((key) => !['type', 'command', 'args', 'env'].includes(key))
  if (extra) return `must not have the field "${extra.slice(0, 50)}"`
  const { type, command, args, env } = server
  if (type !== undefined && type !== 'stdio') return 'must have the type "stdio", or none'
  if (!mcpCommands.some((known) => known === command)) {
    return `must have one of ${mcpCommands.join(', ')} as "command"`
  }
  if (args !== undefined && !(Array.isArray(args) && args.every((each) => typeof each === 'string'))) {
    return 'must have a list of texts as "args"'
  }
  if (Array.isArray(args) && args.some((each) => shellCharacters.test(String(each)))) {
    return 'must not have characters of a shell in "args"'
  }
  return env === undefined || isTexts(env) ? null : 'must have texts as "env"'
}

/** Returns the entries of an `.mcp.json`, or null for invalid text. */
export function mcpServersOf(text: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return isRecord(parsed) && isRecord(parsed.mcpServers) ? parsed.mcpServers : null
  } catch {
    return null
  }
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:\/\//.test(text)
}

function isTexts(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((each) => typeof each === 'string')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// ── messages ───────────────────────────────────────────────────────────────────────────────────────

export type CredentialFile = { path: string; size: number; modified: string }
/**
 * A template's server that is missing in `.mcp.json`, with the reason. `names` are variables without a value.
 */
export type LeftOutServer = { server: string; names: string[]; reason: string }

export type CredentialsStatus = { t: 'credentials.status' }
export type CredentialsStatusAnswer = {
  /** Existing credential files, the bundle and the template of `.mcp.json`. */
  files: CredentialFile[]
  /** Names in `.env` that have a value. */
  variables: string[]
  left_out: LeftOutServer[]
  /** Files that list the required variables; null when missing or above 256 KiB. */
  mcp_template: string | null
  env_example: string | null
}
/** Stages a chunk of a file; `credentials.commit` moves the file to its path. */
export type CredentialsWrite = {
  t: 'credentials.write'
  upload_id: string
  path: string
  offset: number
  data_base64: string
}
/** Moves all staged files to their paths, or none. Then renders `.mcp.json`. */
export type CredentialsCommit = { t: 'credentials.commit'; upload_id: string; paths: string[] }
export type CredentialsCommitAnswer = { written: string[]; left_out: LeftOutServer[] }
/** With `owners_only`, a file that somebody other than the owner may have written is refused with `protected_path`. */
export type CredentialsRead = {
  t: 'credentials.read'
  path: string
  offset: number
  length: number
  owners_only?: boolean
}
export type CredentialsReadAnswer = { data_base64: string; size: number; eof: boolean }
export type CredentialsRender = { t: 'credentials.render' }
export type CredentialsRenderAnswer = { left_out: LeftOutServer[] }
